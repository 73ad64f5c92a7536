"""What an answer is worth: questions as they were understood, and scores that mean the same in both tiers."""
