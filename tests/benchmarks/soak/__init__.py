"""Eight processes on one embedded store, for as long as one likes."""
