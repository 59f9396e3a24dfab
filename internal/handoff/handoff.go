// Package handoff takes a draft from the job that made it to the job that decides
// it, whatever the draft is about.
//
// It finds drafts among artifacts, goes through the resume checks in their order,
// and lets one of several decisions hold; it knows no review and no flow. Start
// reading at Resume.Verify, and at Turn for who may act.
package handoff
