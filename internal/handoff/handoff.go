// Package handoff takes a draft from the job that made it to the job that decides
// it, whatever the draft is about.
//
// It keeps decisions on record and lets one of them hold; it knows no review and no
// flow. Start reading at Turn.
package handoff
