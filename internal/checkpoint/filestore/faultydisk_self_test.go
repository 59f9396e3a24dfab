package filestore

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// put writes a file; synced brings its bytes and its name to disk.
func put(t *testing.T, d *faultyDisk, path, text string, synced bool) {
	t.Helper()
	f, err := d.Open(path)
	require.NoError(t, err)
	_, err = f.Write([]byte(text))
	require.NoError(t, err)
	if synced {
		require.NoError(t, f.Sync())
		require.NoError(t, d.SyncDir("/"))
	}
	require.NoError(t, f.Close())
}

func text(t *testing.T, d *faultyDisk, path string) string {
	t.Helper()
	data, err := d.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// crash goes down in an operation that changes nothing, and comes up again.
func crash(t *testing.T, d *faultyDisk, o outcome, seed uint64) {
	t.Helper()
	d.Crash(1, o, seed)
	_, err := d.ReadDir("/")
	require.ErrorIs(t, err, errDown)
	_, err = d.ReadDir("/")
	require.ErrorIs(t, err, errDown, "it stays down")
	d.Restart()
}

func TestADiskBehavesAsOne(t *testing.T) {
	t.Parallel()
	d := newFaultyDisk()
	require.ErrorIs(t, d.Mkdir("/a/b"), fs.ErrNotExist)
	require.NoError(t, d.Mkdir("/a"))
	require.ErrorIs(t, d.Mkdir("/a"), fs.ErrExist)
	put(t, d, "/a/f", "one", false)
	put(t, d, "/a/f", " two", false)
	require.Equal(t, "one two", text(t, d, "/a/f"))
	put(t, d, "/a/g", "three", false)
	require.NoError(t, d.Rename("/a/g", "/a/f"))
	require.Equal(t, "three", text(t, d, "/a/f"))
	require.ErrorIs(t, d.Remove("/a"), syscall.ENOTEMPTY)
	require.ErrorIs(t, d.Rename("/a/g", "/a/h"), fs.ErrNotExist)
	require.ErrorIs(t, d.Rename("/a/f", "/f"), syscall.EXDEV)
	_, err := d.Open("/a")
	require.ErrorIs(t, err, syscall.EISDIR)
	_, err = d.ReadFile("/a/f/x")
	require.ErrorIs(t, err, syscall.ENOTDIR)
	folder, err := d.IsDir("/a")
	require.NoError(t, err)
	require.True(t, folder)
	names, err := d.ReadDir("/a")
	require.NoError(t, err)
	require.Equal(t, []string{"f"}, names)
	require.NoError(t, d.Remove("/a/f"))
	require.NoError(t, d.Remove("/a"))
	require.ErrorIs(t, d.Remove("/a"), fs.ErrNotExist)
}

func TestWhatWasSyncedSurvivesEveryCrash(t *testing.T) {
	t.Parallel()
	for _, o := range allOutcomes() {
		for seed := range uint64(50) {
			d := newFaultyDisk()
			put(t, d, "/f", "synced", true)
			put(t, d, "/f", strings.Repeat("not synced ", 9), false)
			crash(t, d, o, seed)
			require.True(t, strings.HasPrefix(text(t, d, "/f"), "synced"), o)
		}
	}
}

func TestWhatWasNotSyncedMayBeAnything(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 8)
	after := func(o outcome, seed uint64) (string, bool) {
		d := newFaultyDisk()
		put(t, d, "/old", "", true)
		put(t, d, "/f", long, false)
		require.NoError(t, d.Rename("/old", "/new"))
		crash(t, d, o, seed)
		data, err := d.ReadFile("/f")
		_, renamed := d.IsDir("/new")
		return string(data), err == nil && renamed == nil
	}
	for o, want := range map[outcome][]string{
		killed: {"whole"}, lost: {"none"}, ordered: {"whole", "torn", "none"}, holes: {"later", "garbage", "none"},
	} {
		seen := map[string]bool{}
		for seed := range uint64(400) {
			data, _ := after(o, seed)
			switch rest := strings.Trim(data, "\x00"); {
			case data == long:
				seen["whole"] = true
			case data == "":
				seen["none"] = true
			case strings.HasPrefix(long, data):
				seen["torn"] = true
			case len(data) == len(long) && data[0] == 0 && strings.HasSuffix(long, rest):
				seen["later"] = true
			default:
				seen["garbage"] = true
			}
		}
		for _, w := range want {
			require.True(t, seen[w], "%s: %s never came", o, w)
		}
	}
	_, both := after(killed, 1)
	require.True(t, both)
}

func TestAKilledProcessLosesItsBytesInALaterPowerFailure(t *testing.T) {
	t.Parallel()
	d := newFaultyDisk()
	put(t, d, "/f", "synced", true)
	put(t, d, "/f", " not", false)
	crash(t, d, killed, 0)
	require.Equal(t, "synced not", text(t, d, "/f"))
	crash(t, d, lost, 0)
	require.Equal(t, "synced", text(t, d, "/f"))
}

func TestAfterAFailedSyncNoLaterOneHelps(t *testing.T) {
	t.Parallel()
	d := newFaultyDisk()
	put(t, d, "/f", "synced", true)
	f, err := d.Open("/f")
	require.NoError(t, err)
	_, err = f.Write([]byte(" lost"))
	require.NoError(t, err)
	d.Fail(1, diskBroken, false)
	require.ErrorIs(t, f.Sync(), diskBroken)
	require.NoError(t, f.Sync())
	require.Equal(t, "synced lost", text(t, d, "/f"))
	crash(t, d, lost, 0)
	require.Equal(t, "synced", text(t, d, "/f"))
}

func TestAFullDiskTakesHalfAWriteAndThenNothing(t *testing.T) {
	t.Parallel()
	d := newFaultyDisk()
	f, err := d.Open("/f")
	require.NoError(t, err)
	d.Fail(2, diskFull, true)
	_, err = f.Write([]byte("one "))
	require.NoError(t, err)
	n, err := f.Write([]byte("twotwo"))
	require.ErrorIs(t, err, diskFull)
	require.Equal(t, 3, n)
	require.ErrorIs(t, d.Mkdir("/a"), diskFull)
	d.Mend()
	require.Equal(t, "one two", text(t, d, "/f"))
	require.Equal(t, 5, d.Ops())
}

func TestAfterARestartFilesAndLocksOfTheOldLifeAreDead(t *testing.T) {
	t.Parallel()
	d := newFaultyDisk()
	f, err := d.Open("/f")
	require.NoError(t, err)
	unlock, free, err := d.Lock("/lock")
	require.NoError(t, err)
	require.True(t, free)
	_, free, err = d.Lock("/lock")
	require.NoError(t, err)
	require.False(t, free)
	crash(t, d, killed, 0)
	_, err = f.Write([]byte("x"))
	require.ErrorIs(t, err, errDown)
	require.ErrorIs(t, f.Sync(), errDown)
	require.ErrorIs(t, f.Close(), errDown)
	_, free, err = d.Lock("/lock")
	require.NoError(t, err)
	require.True(t, free)
	require.ErrorIs(t, unlock(), errDown)
	_, free, err = d.Lock("/lock")
	require.NoError(t, err)
	require.False(t, free, "the dead process does not unlock it")
}
