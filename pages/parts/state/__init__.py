"""The state of one browser session. What must survive a reload is in the ledger or in the address instead."""
