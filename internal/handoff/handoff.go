// Package handoff takes a draft from the job that made it to the job that decides
// it, whatever the draft is about.
//
// A flow describes itself as a Subject. The drafting job packs a parked thread; the
// deciding one finds it among artifacts, goes through the resume checks in their order
// (Resume.Verify), opens it, and carries a decision out once (Desk, Turn). The room
// knows no review and no flow. Start reading at Subject.
package handoff
