"""Load tests of any OpenAI-compatible endpoint: people who chat and agents at work, open and closed loop."""
