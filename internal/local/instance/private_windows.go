package instance

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// openPrivate opens a regular file of this user. For a file of another user, and for a symbolic link, it returns an
// error. Who else can read or write the file depends on its folder: the profile of a user is private.
func openPrivate(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file, and is not trusted", path)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = checkOwner(f)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// checkOwner returns an error if a file does not belong to this user. Files of an administrator belong to the group
// of all administrators.
func checkOwner(f *os.File) error {
	found, err := windows.GetSecurityInfo(
		windows.Handle(f.Fd()), windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION,
	)
	if err != nil {
		return fmt.Errorf("read the owner of %s: %w", f.Name(), err)
	}
	owner, _, err := found.Owner()
	if err != nil {
		return fmt.Errorf("read the owner of %s: %w", f.Name(), err)
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("read the user of this process: %w", err)
	}
	if !owner.Equals(user.User.Sid) && !owner.IsWellKnown(windows.WinBuiltinAdministratorsSid) {
		return fmt.Errorf("%s does not belong to this user, and is not trusted", f.Name())
	}
	return nil
}

// names returns 1: the number of hard links is not part of the information on a file.
func names(os.FileInfo) uint64 { return 1 }

// stillActive is the exit code of a process that runs.
const stillActive = 259

// isRunning reports whether there may be a process with an id.
func isRunning(pid int) bool {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER)
	}
	defer func() { _ = windows.CloseHandle(process) }()
	var code uint32
	err = windows.GetExitCodeProcess(process, &code)
	return err != nil || code == stillActive
}
