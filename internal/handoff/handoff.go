// Package handoff passes a draft from the job that made it to the job that decides it,
// whatever the draft is about.
//
// A flow describes itself as a Subject. The drafting job packs a parked thread. The
// deciding job finds it among the artifacts, runs the resume checks in order
// (Resume.Verify), opens it, and carries out a decision once (Decisions, Turn). The package
// knows neither reviews nor flows. Start reading at Subject.
package handoff
