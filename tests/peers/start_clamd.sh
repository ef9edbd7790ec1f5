#!/usr/bin/env bash
# A clamd on loopback for tests/peers/test_clamd.py, in the foreground; it knows the EICAR test file and nothing else.
# The tests know its limits. As by default, clamd does not report files that exceed them.
# Usage: start_clamd.sh FOLDER PORT
set -euo pipefail
folder=$1 port=$2
PATH=$PATH:/usr/sbin
mkdir -p "$folder/signatures" "$folder/scratch"

# name:kind of file (0: any):offset (*: anywhere):bytes. The string stands in two halves, so that no scanner flags this script.
eicar=$(printf '%s%s' 'X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR' '-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*' | od -An -v -tx1 | tr -d ' \n')
echo "Eicar-Test-Signature:0:*:$eicar" >"$folder/signatures/test.ndb"

cat >"$folder/clamd.conf" <<CONF
DatabaseDirectory $folder/signatures
TemporaryDirectory $folder/scratch
TCPAddr 127.0.0.1
TCPSocket $port
Foreground yes
MaxThreads 2
StreamMaxLength 40M
MaxFileSize 30M
MaxScanSize 100M
CONF
exec clamd --config-file="$folder/clamd.conf"
