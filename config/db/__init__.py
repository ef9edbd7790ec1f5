"""What the models of all apps share: ids, encrypted fields, frequent reads, writes of many rows, retention rules."""
