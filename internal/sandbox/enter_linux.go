package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// enter makes the sandbox from within and becomes its command.
func (r room) enter() error {
	root := filepath.Join(r.Dir, "root")
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"making a file system", func() error { return r.furnish(root) }},
		{"copying the files", func() error { return os.CopyFS(filepath.Join(root, "work"), os.DirFS(filepath.Join(r.Dir, "tree"))) }},
		{"leaving the old file system", func() error { return leave(root) }},
		{"setting up loopback", loopback},
		{"setting limits", r.limit},
		{"giving up rights", surrender},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return unix.Exec("/bin/sh", []string{"sh", "-c", r.Command}, r.Env)
}

// system is what a command may read of the machine beside what it is shown.
func system() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
		"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime",
	}
}

// furnish mounts a file system in memory and, read-only, what is shown in it. A
// new view of the processes is not to be had in some containers; the machine's
// own one would show the environment of others, so then there is none.
func (r room) furnish(root string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	options := fmt.Sprintf("mode=0755,size=%d,nr_inodes=500000", r.Memory)
	if err := unix.Mount("none", root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return err
	}
	for _, dir := range []string{"work", "home", "tmp", "proc", "dev/shm", "etc"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	for _, path := range append(system(), r.Shown...) {
		if err := show(root, path, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
			return err
		}
	}
	for _, device := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"} {
		if err := show(root, device, unix.MOUNT_ATTR_NOSUID); err != nil {
			return err
		}
	}
	_ = unix.Mount("proc", filepath.Join(root, "proc"), "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	return errors.Join(
		os.Symlink("/proc/self/fd", filepath.Join(root, "dev/fd")),
		os.WriteFile(filepath.Join(root, "etc/passwd"), fmt.Appendf(nil, "user:x:%d:%d::/home:/bin/sh\n", inside, inside), 0o644),
		os.WriteFile(filepath.Join(root, "etc/hosts"), []byte("127.0.0.1 localhost\n::1 localhost\n"), 0o644),
	)
}

// show puts a path of the machine at the same place below root; one that is not
// there is left out, and a link stays one.
func show(root, path string, attributes uint64) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	at := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(target, at)
	case info.IsDir():
		err = os.MkdirAll(at, 0o755)
	default:
		err = os.WriteFile(at, nil, 0o644)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(path, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("showing %s: %w", path, err)
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, at, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attributes}); err != nil {
		return fmt.Errorf("locking %s: %w", path, err)
	}
	return nil
}

// leave makes root the one file system that there is.
func leave(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil { // the old root now lies over the new one
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return os.Chdir("/work")
}

// loopback brings the one interface of the network up, for tests that listen.
func loopback() error {
	socket, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	const size = unix.SizeofNlMsghdr + unix.SizeofIfInfomsg
	message := make([]byte, size)
	binary.NativeEndian.PutUint32(message[0:], size)
	binary.NativeEndian.PutUint16(message[4:], unix.RTM_NEWLINK)
	binary.NativeEndian.PutUint16(message[6:], unix.NLM_F_REQUEST)
	binary.NativeEndian.PutUint32(message[20:], 1)           // the interface's index
	binary.NativeEndian.PutUint32(message[24:], unix.IFF_UP) // what it is to have
	binary.NativeEndian.PutUint32(message[28:], unix.IFF_UP) // what is changed
	return unix.Sendto(socket, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}

func (r room) limit() error {
	memory := uint64(max(r.Memory, 0))
	for resource, limit := range map[int]uint64{
		unix.RLIMIT_NPROC: r.Processes, unix.RLIMIT_DATA: memory, unix.RLIMIT_FSIZE: memory,
		unix.RLIMIT_CPU: r.Seconds, unix.RLIMIT_CORE: 0, unix.RLIMIT_MSGQUEUE: 0, unix.RLIMIT_MEMLOCK: 64 << 10,
	} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
	}
	return nil
}

// surrender gives up every right of the namespaces and the user's keys, closes
// the way to get rights back, and ends the command with what started it.
func surrender() error {
	unix.CloseOnExec(3)
	_, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		err = nil // keys cannot be had here at all
	}
	return errors.Join(err,
		unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0),
		unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
		unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0),
	)
}
