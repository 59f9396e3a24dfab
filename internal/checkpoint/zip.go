package checkpoint

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

var errTooLarge = errors.New("too large")

// entry is one file of a zip.
type entry struct {
	name    string
	content []byte
}

// zipOf is the one layout of a zip: entries in their order, stored as they are,
// sizes in front of each, one fixed time, no attributes, extras or comments.
// Nothing is compressed: a compressor's next version would give a stored draft
// another digest, and what is not compressed does not expand.
func zipOf(entries ...entry) ([]byte, error) {
	const firstOfJanuary1980 = 1<<5 | 1
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		if b.Len()+len(e.content) > MaxZip || e.name == manifestEntry && len(e.content) > maxManifest {
			return nil, fmt.Errorf("%s: %w: %d bytes", e.name, errTooLarge, len(e.content))
		}
		size := uint64(len(e.content))
		part, err := w.CreateRaw(&zip.FileHeader{
			Name: e.name, Method: zip.Store, ModifiedDate: firstOfJanuary1980,
			CRC32: crc32.ChecksumIEEE(e.content), CompressedSize64: size, UncompressedSize64: size,
		})
		if err == nil {
			_, err = part.Write(e.content)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if b.Len() > MaxZip {
		return nil, fmt.Errorf("%w: %d bytes, more than %d", errTooLarge, b.Len(), MaxZip)
	}
	return b.Bytes(), nil
}

// contentsOf reads a zip that has exactly the named entries in their order.
//
// Zip readers disagree about bytes before, between and behind entries, about
// names and sizes that stand in two places, and about flags. So the entries are
// taken as they lie there, and laid out again must give the very bytes that came.
func contentsOf(z []byte, names ...string) ([][]byte, error) {
	if len(z) > MaxZip {
		return nil, fmt.Errorf("%w: %d bytes, more than %d", errTooLarge, len(z), MaxZip)
	}
	if err := checkDirectory(z, len(names)); err != nil {
		return nil, err
	}
	r, err := zip.NewReader(bytes.NewReader(z), int64(len(z)))
	if err != nil {
		return nil, fmt.Errorf("reading the zip: %w", err)
	}
	if len(r.File) != len(names) {
		return nil, fmt.Errorf("the zip has %d entries instead of %d", len(r.File), len(names))
	}
	var entries []entry
	var contents [][]byte
	for i, f := range r.File {
		if f.Name != names[i] {
			return nil, fmt.Errorf("entry %d is %.60q instead of %s", i+1, f.Name, names[i])
		}
		raw, err := f.OpenRaw()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		content, err := io.ReadAll(raw) // a part of z
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		entries, contents = append(entries, entry{f.Name, content}), append(contents, content)
	}
	if same, err := zipOf(entries...); err != nil || !bytes.Equal(same, z) {
		return nil, errors.New("the zip is not laid out as this tool does it")
	}
	return contents, nil
}

// checkDirectory looks at the zip's last 22 bytes before the zip reader makes
// room for as many entries as they promise.
func checkDirectory(z []byte, entries int) error {
	const length = 22
	if len(z) < length || !bytes.HasPrefix(z[len(z)-length:], []byte("PK\x05\x06")) {
		return errors.New("it is not a zip, or cut off, or something stands behind its end")
	}
	end := z[len(z)-length:]
	if n := int(end[10]) | int(end[11])<<8; n != entries {
		return fmt.Errorf("the zip has %d entries instead of %d", n, entries)
	}
	return nil
}
