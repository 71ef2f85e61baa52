"""The rule agent: sound Hearts by weights, card by card."""
