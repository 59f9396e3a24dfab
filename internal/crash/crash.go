// Package crash holds the tests that end the built program in the middle of its
// work: at a random instant of a review on the command line, and around every
// request that a job of the action sends. Each is started again until it is
// done, and must come to what an undisturbed run comes to, with nothing paid
// twice that had been kept, and one review.
//
// There is nothing here but tests. Plain go test runs a sample of them; with
// PR_REVIEW_VOLUME=full in the environment all points are run, which takes many
// minutes. Start reading at TestP4_KilledAtRandomInstants; program_test.go
// starts the program.
package crash
