package clienttest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/askback/askback/test/program"
)

// capNetAdmin is CAP_NET_ADMIN, which is needed to bring an interface up.
const capNetAdmin = 12

// apartVariable is the environment variable that is set in a process that [Loopback] starts.
const apartVariable = "ASKBACK_TEST_APART"

// Loopback is like [Main], but runs the tests in a network namespace with loopback only. Before, it installs
// the npm packages of this folder and of folders, and builds the program. If the system does not permit the
// namespace, Loopback prints a line and runs the tests in the existing network. If [Folder] is not set,
// Loopback only calls [Main].
func Loopback(m *testing.M, folders ...string) {
	switch cache := os.Getenv(Folder); {
	case cache == "":
		Main(m)
	case os.Getenv(apartVariable) != "":
		if err := raiseLoopback(); err != nil {
			fmt.Fprintln(os.Stderr, "bring loopback up:", err)
			os.Exit(1)
		}
		Main(m)
	default:
		os.Exit(runApart(m, cache, append([]string{"."}, folders...)))
	}
}

// runApart runs this test binary again in a new namespace, and returns its exit
// code. If the namespace cannot be created, it runs the tests here.
func runApart(m *testing.M, cache string, folders []string) int {
	for _, folder := range folders {
		if _, err := install(context.Background(), cache, folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	path, err := build()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(built)
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), program.Variable+"="+path, apartVariable+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{capNetAdmin}
	}
	runtime.LockOSThread() // Pdeathsig is sent when this thread ends
	err = cmd.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "LEFT OUT: the network namespace for clients:", err)
		return m.Run()
	}
	err = cmd.Wait()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(failed.ExitCode(), 1)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// raiseLoopback enables the loopback interface, which is down in a new
// namespace.
func raiseLoopback() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	request := struct { // struct ifreq
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS,
		uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	return l.Close()
}
