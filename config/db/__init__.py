"""The package of what the models of all apps share: ids, encrypted fields, frequent reads, writes, retention rules."""
