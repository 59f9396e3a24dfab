package checkpoint

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
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

// packZip packs entries into a zip of at most MaxZip bytes.
func packZip(entries ...entry) ([]byte, error) {
	size := 22
	for _, e := range entries {
		size += len(e.content) + 2*len(e.name) + 30 + 46 // each entry's local and central header
	}
	if size > MaxZip {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", errTooLarge, size, MaxZip)
	}
	b := bytes.NewBuffer(make([]byte, 0, size))
	err := writeZip(b, entries)
	return b.Bytes(), err
}

// writeZip defines the only layout of a zip: entries in order, stored
// uncompressed, sizes before each, a fixed time, no attributes, extras or
// comments. Compression is avoided because a compressor's next version would
// change a draft's digest, and because stored data cannot expand.
func writeZip(to io.Writer, entries []entry) error {
	const firstOfJanuary1980 = 1<<5 | 1
	w := zip.NewWriter(to)
	for _, e := range entries {
		if e.name == manifestEntry && len(e.content) > maxManifest {
			return fmt.Errorf("%s: %w: %d bytes, at most %d", e.name, errTooLarge, len(e.content), maxManifest)
		}
		size := uint64(len(e.content))
		part, err := w.CreateRaw(&zip.FileHeader{
			//lint:ignore SA1019 Modified would write an extra field
			Name: e.name, Method: zip.Store, ModifiedDate: firstOfJanuary1980,
			CRC32: crc32.ChecksumIEEE(e.content), CompressedSize64: size, UncompressedSize64: size,
		})
		if err == nil {
			_, err = part.Write(e.content)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return w.Close()
}

// readZip returns the contents of a zip that has the named entries in order,
// all of them or at least the first few. Contents alias z.
//
// Zip readers disagree about bytes before, between and after entries, about names
// and sizes stored in two places, and about flags. So the entries are read,
// written again, and the result must equal z byte for byte.
func readZip(z []byte, least int, names ...string) ([][]byte, error) {
	if len(z) > MaxZip {
		return nil, fmt.Errorf("%w: %d bytes, more than %d", errTooLarge, len(z), MaxZip)
	}
	if err := checkDirectory(z, least, len(names)); err != nil {
		return nil, err
	}
	r, err := zip.NewReader(bytes.NewReader(z), int64(len(z)))
	if err != nil {
		return nil, fmt.Errorf("reading the zip: %w", err)
	}
	if len(r.File) < least || len(r.File) > len(names) {
		return nil, fmt.Errorf("the zip has %d entries", len(r.File))
	}
	var entries []entry
	var contents [][]byte
	for i, f := range r.File {
		if f.Name != names[i] {
			return nil, fmt.Errorf("entry %d is %.60q instead of %s", i+1, f.Name, names[i])
		}
		content, err := contentOf(z, f)
		if err != nil {
			return nil, err
		}
		entries, contents = append(entries, entry{f.Name, content}), append(contents, content)
	}
	rest := expected(z)
	if err := writeZip(&rest, entries); err != nil || len(rest) > 0 {
		return nil, errors.New("the zip is not laid out as this tool does it")
	}
	return contents, nil
}

// contentOf returns the stored bytes of an entry.
func contentOf(z []byte, f *zip.File) ([]byte, error) {
	start, err := f.DataOffset()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	length := int64(len(z))
	if start > length || f.CompressedSize64 > uint64(length-start) {
		return nil, fmt.Errorf("%s: the zip is shorter than it says", f.Name)
	}
	end := start + int64(f.CompressedSize64)
	return z[start:end:end], nil
}

// expected is a writer that accepts exactly the bytes it holds, in order.
type expected []byte

func (e *expected) Write(b []byte) (int, error) {
	rest, ok := bytes.CutPrefix(*e, b)
	if !ok {
		return 0, errors.New("other bytes are expected")
	}
	*e = rest
	return len(b), nil
}

// checkDirectory checks the zip's last 22 bytes, before the zip reader allocates
// for as many entries as they, or a zip64 directory, promise.
func checkDirectory(z []byte, least, most int) error {
	const length = 22
	if len(z) < length || !bytes.HasPrefix(z[len(z)-length:], []byte("PK\x05\x06")) {
		return errors.New("it is not a zip, or cut off, or something follows its end")
	}
	end := z[len(z)-length:]
	if n := int(binary.LittleEndian.Uint16(end[10:])); n < least || n > most {
		return fmt.Errorf("the zip has %d entries instead of %d", n, most)
	}
	size, start := binary.LittleEndian.Uint32(end[12:]), binary.LittleEndian.Uint32(end[16:])
	if uint64(start)+uint64(size)+length != uint64(len(z)) || size > 1<<10 {
		return errors.New("the zip is not laid out as this tool does it")
	}
	return nil
}
