"""Creates a self-signed certificate for the loopback address."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


def write_certificate(folder: Path) -> tuple[Path, Path]:
    """Write a self-signed certificate and its key as PEM; return both paths.

    Who names the first in SSL_CERT_FILE trusts it as one of the machine's own authorities, and checks it in full.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Receivers of a measurement")])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    )
    certificate, key_file = folder / "receiver.pem", folder / "receiver-key.pem"
    certificate.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return certificate, key_file
