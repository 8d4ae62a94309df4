"""What comes in: archives unpacked with caps, downloads of learning platforms laid out below submitted/."""
