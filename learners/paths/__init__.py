"""The paper's path learners, the game they play, their tuning and their bounds."""
