package checkpoint

import (
	"fmt"

	"github.com/org/pr-review-action/internal/decision"
)

const recordEntry = "decision.json"

// PackRecord puts a decision record, sealed where there is a key, into the zip
// that is kept under Names.Decision of handoff. Under encrypt it is hidden as well: a
// reason for dropping a finding tells of it. Else equal records give equal bytes.
func (p Protection) PackRecord(r decision.Record) ([]byte, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("packing decision record: %w", err)
	}
	text, err := r.Encode()
	if err != nil {
		return nil, fmt.Errorf("packing decision record: %w", err)
	}
	if p.Keyed() {
		text = p.seal(recordLabel, text)
	}
	if p.Trust == TrustEncrypt {
		if text, err = p.hide(text); err != nil {
			return nil, fmt.Errorf("encrypting decision record: %w", err)
		}
	}
	z, err := packZip(entry{recordEntry, text})
	if err != nil {
		return nil, fmt.Errorf("packing decision record: %w", err)
	}
	return z, nil
}

// OpenRecord reads what PackRecord made, with the same limits as Unzip. Under
// seal and encrypt a record without a good seal is a Refusal of check 5. Under
// digest a sealed one is read and its seal not looked at: a record only ever
// forbids, so overlooking one would be worse. Who made it is for the caller to
// know.
func (p Protection) OpenRecord(z []byte) (decision.Record, error) {
	contents, err := contentsOf(z, 1, recordEntry)
	if err != nil {
		return decision.Record{}, fmt.Errorf("opening decision record: %w", err)
	}
	text := contents[0]
	if hidden(text) && p.Keyed() {
		if text, err = p.reveal(text); err != nil {
			return decision.Record{}, altered("the decision record", err)
		}
	}
	if err := p.demandSeal(recordLabel, "the decision record", text); err != nil {
		return decision.Record{}, err
	}
	if _, rest, ok := cutSeal(text); ok {
		text = append([]byte("{"), rest...)
	}
	return decision.DecodeRecord(text)
}
