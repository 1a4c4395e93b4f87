package main

import (
	"errors"
	"syscall"
	"time"

	"github.com/askback/askback/internal/instance"
	"github.com/askback/askback/internal/pause"
)

// announcePause is the time between two tries to say who serves here.
const announcePause = time.Second

// announce writes who serves the database. Where the disk is full that is tried again
// until there is room: what is there can be read meanwhile, by those who know where.
func (h *holder) announce(s instance.Server) error {
	err := h.desk.place.Announce(s)
	if errors.Is(err, syscall.ENOSPC) && h.db.FreeReserve() {
		err = h.desk.place.Announce(s)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	if log := h.desk.serve.log; log != nil {
		log.Warn("the disk is full: commands on this machine do not find this server until there is room", "error", err)
	}
	h.later.Go(func() {
		for errors.Is(err, syscall.ENOSPC) && pause.For(h.at.closing, announcePause) == nil {
			err = h.desk.place.Announce(s)
		}
		if log := h.desk.serve.log; log != nil && h.at.closing.Err() == nil {
			log.Info("commands on this machine find this server", "error", err)
		}
	})
	return nil
}
