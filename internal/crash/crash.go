// Package crash holds the tests that kill the built program in the middle of its
// work: at a random instant of a review on the command line, and around every
// request that a job of the action sends. Each run is restarted until it
// finishes, and must reach the result of an undisturbed run, with nothing paid
// for twice that had been kept, and one review.
//
// It contains only tests. Plain go test runs a sample of them; with
// PR_REVIEW_VOLUME=full in the environment all points are run, which takes many
// minutes. Start reading at TestP4_KilledAtRandomInstants; program_test.go starts
// the program.
package crash
