package checkpoint

import (
	"bytes"
	"fmt"

	"github.com/org/pr-review-action/internal/decision"
)

const recordEntry = "decision.json"

// PackRecord packs a decision record, sealed if there is a key, into the zip that is stored
// under handoff's Names.Decision. Under encrypt the record is encrypted too, because the
// reason for dropping a finding reveals it. Otherwise equal records produce equal bytes.
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
		if text, err = p.encrypt(text); err != nil {
			return nil, fmt.Errorf("encrypting decision record: %w", err)
		}
	}
	z, err := packZip(entry{recordEntry, text})
	if err != nil {
		return nil, fmt.Errorf("packing decision record: %w", err)
	}
	return z, nil
}

// OpenRecord reads the result of PackRecord, with the limits of Unzip. Under seal
// and encrypt, a record without a valid seal is a refusal of check 5. Under
// digest a sealed record is read and its seal ignored: a record can only forbid,
// so skipping it would be worse. The caller must know who made the record.
func (p Protection) OpenRecord(z []byte) (decision.Record, error) {
	contents, err := readZip(z, 1, recordEntry)
	if err != nil {
		return decision.Record{}, fmt.Errorf("opening decision record: %w", err)
	}
	text := contents[0]
	if bytes.HasPrefix(text, []byte("age-encryption.org/")) && p.Keyed() {
		if text, err = p.decrypt(text); err != nil {
			return decision.Record{}, refuseAltered("the decision record", err)
		}
	}
	if err := p.requireSeal(recordLabel, "the decision record", text); err != nil {
		return decision.Record{}, err
	}
	if _, rest, ok := cutSeal(text); ok {
		text = append([]byte("{"), rest...)
	}
	return decision.DecodeRecord(text)
}
