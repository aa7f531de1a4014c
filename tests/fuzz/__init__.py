"""What nobody writes on purpose: settings, scenario files, ledger rows and checkpoints filled at random."""
