"""What a text hides: characters that deceive, letters that look alike, secrets."""
