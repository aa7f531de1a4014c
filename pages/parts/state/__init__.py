"""What one browser session holds. Nothing true lives here: that is in the ledger, or in the address."""
