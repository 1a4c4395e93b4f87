package doctor

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/askback/askback/engine"
	"github.com/askback/askback/internal/local/connection"
	"github.com/askback/askback/internal/server/config"
	"github.com/askback/askback/internal/text/view"
	"github.com/askback/askback/store"
)

// readSecrets reads the records that may have encrypted secrets.
func (i *inspection) readSecrets(ctx context.Context, db *sql.DB) (err error) {
	rows, err := db.QueryContext(ctx,
		"select kind, id, fixed, state from records where kind in ('endpoint', 'contact')")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r store.Record
		if err := rows.Scan(&r.Kind, &r.ID, &r.Fixed, &r.State); err != nil {
			return err
		}
		i.withSecrets = append(i.withSecrets, r)
	}
	return rows.Err()
}

// checkSecrets checks the key in the state directory. Only this user may read the key, and the key must open
// the secrets in the database. A missing key is a problem only if there are secrets.
func (d *doctor) checkSecrets(all []store.Record) {
	const check = "secrets"
	const lost = "restore it from the backup of this database; without it, askback webhook rotate makes new " +
		"secrets, and people add their contacts again"
	dir, err := d.program.StateDir()
	if err != nil {
		return // another check has reported the problem
	}
	path := filepath.Join(dir, connection.SecretKeyFile)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		info = nil
	case err != nil:
		d.Fail(check, "give this user access", "%v", err)
		return
	case !info.Mode().IsRegular() || !isOwn(info):
		d.Fail(check, lost, "%s is not a regular file of this user", path)
		return
	case isShared(info):
		d.Fail(check,
			"chmod 600 "+path+", and rotate the secrets with askback webhook rotate: others may have read it",
			"other users have access to %s (%#o)", path, info.Mode().Perm())
		return
	}
	key, err := connection.ReadSecretKey(dir)
	if err != nil {
		d.Fail(check, "", "%v", err)
		return
	}
	sealed, closed := 0, 0
	for _, r := range all {
		n, err := engine.OpenSecrets(key, r)
		if sealed += n; err != nil {
			closed++
		}
	}
	switch {
	case sealed == 0 && info == nil:
		d.OK(check, "no key is needed yet; it will be created in %s when needed", path)
	case key == nil && sealed > 0:
		d.Fail(check, lost, "%s has no key, and the database has %s that it encrypted", path,
			view.Count(sealed, "secret"))
	case closed > 0:
		d.Fail(check, lost, "%s cannot decrypt the secrets of %s in the database", path, view.Count(closed, "record"))
	default:
		d.OK(check, "only this user can read %s, and it decrypts all secrets in the database (%d)", path, sealed)
	}
}

// checkChannels warns if messages of a channel have no link that a phone can open.
func (d *doctor) checkChannels() {
	const check = "channels"
	linked := d.file.LinkedChannels()
	if len(linked) == 0 {
		return
	}
	names, public := strings.Join(linked, ", "), d.file.PublicURL
	if problem := config.LinkProblem(public); problem != "" {
		d.Warn(check, config.FixOfLinks, "%s: %s", names, problem)
		return
	}
	d.OK(check, "%s: messages link to %s; check it with askback doctor --public-url %s", names, public, public)
}
