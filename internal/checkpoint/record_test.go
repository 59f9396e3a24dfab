package checkpoint

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/org/pr-review-action/internal/decision"
)

func record() decision.Record {
	return decision.Record{Thread: "org/payments#42:" + head, Digest: diff, Code: Code(diff), Decision: decision.Abort,
		By: "rita", At: made, Via: decision.ByDispatch,
		Findings: []decision.Shown{{ID: "F1", Path: "ledger/transfer.go", Severity: decision.Major, Source: "linter",
			Rule: "errcheck", Linter: "revive"}}, Drafting: &decision.Effort{Cost: 4100, Calls: 3},
		Dropped: []decision.Drop{}, Edited: []decision.Edit{}, Moved: []decision.Move{}, Severity: []decision.Regrade{}}
}

func TestRecordTravelsAsAZip(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile("../decision/record.schema.json")
	require.NoError(t, err)
	for _, p := range protections(t) {
		z, err := p.PackRecord(record())
		require.NoError(t, err)
		if p.Trust != TrustEncrypt {
			again, err := p.PackRecord(record())
			require.NoError(t, err)
			require.Equal(t, again, z)
			contents, err := readZip(z, 1, recordEntry)
			require.NoError(t, err)
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(contents[0]))
			require.NoError(t, err)
			require.NoError(t, schema.Validate(value), "%s", p.Trust)
		}
		for _, said := range []string{"rita", "ledger/transfer.go", "errcheck", "4100"} {
			require.Equal(t, p.Trust == TrustEncrypt, !bytes.Contains(z, []byte(said)),
				"T28: who dropped what, and why, and of which findings, is hidden: %s", said)
		}
		back, err := p.OpenRecord(z)
		require.NoError(t, err)
		require.Equal(t, record(), back)
		_, err = p.OpenRecord(p.packed(t).Zip)
		require.Error(t, err)
		_, err = Unzip(z)
		refusal(t, err, 3)
	}
	_, err = Protection{Trust: TrustSeal}.PackRecord(record())
	require.ErrorIs(t, err, ErrKey)
}

func TestCheck5_ARecordIsSealedWhereThereIsAKey(t *testing.T) {
	t.Parallel()
	plain, err := Protection{}.PackRecord(record())
	require.NoError(t, err)
	p := Protection{TrustSeal, key(t, "k")}
	sealed, err := p.PackRecord(record())
	require.NoError(t, err)

	require.ErrorContains(t, refusal(t, second(p.OpenRecord(plain)), 5), "the decision record carries no seal")
	require.ErrorContains(t, refusal(t, second(Protection{TrustSeal, key(t, "l")}.OpenRecord(sealed)), 5),
		"sealed the decision record, or it was changed")
	contents, err := readZip(sealed, 1, recordEntry)
	require.NoError(t, err)
	forged, err := packZip(entry{recordEntry, []byte(strings.Replace(string(contents[0]), "abort", "approve", 1))})
	require.NoError(t, err)
	refusal(t, second(p.OpenRecord(forged)), 5)

	back, err := Protection{}.OpenRecord(sealed)
	require.NoError(t, err, "an abort holds also for a job that lost its key")
	require.Equal(t, record(), back)
}

func TestT21_ARecordIsReadStrictly(t *testing.T) {
	t.Parallel()
	text, err := record().Encode()
	require.NoError(t, err)
	body := strings.TrimSuffix(string(text), "\n}\n")
	for name, bad := range map[string]string{
		"repeated":     body + `,"decision":"approve"}`,
		"other case":   body + `,"DECISION":"approve"}`,
		"unknown":      body + `,"x":1}`,
		"two":          string(text) + "{}",
		"bad UTF-8":    strings.Replace(string(text), "rita", "rit\xff", 1),
		"nested":       body + `,"note":` + strings.Repeat("[", 100_000),
		"sealed twice": sealStart + diff + sealEnd + sealStart[1:] + diff + sealEnd + string(text[1:]),
		"empty":        "",
	} {
		z, err := packZip(entry{recordEntry, []byte(bad)})
		require.NoError(t, err)
		_, err = Protection{}.OpenRecord(z)
		require.Error(t, err, name)
	}
}
