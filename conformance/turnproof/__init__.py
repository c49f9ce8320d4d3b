"""turnproof."""
