"""The platforms: pure adapters, typed values in and out, faults as typed errors. No models, no requests of ours."""
