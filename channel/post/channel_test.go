package post_test

import (
	"testing"

	"github.com/askback/askback/channel/channeltest"
	"github.com/askback/askback/channel/post"
	"github.com/askback/askback/channel/post/posttest"
	"github.com/askback/askback/test/kit/racedetector"
)

// Every service passes the suite of channels (F3, T7, T9, T10).
func TestServicesPassTheSuite(t *testing.T) {
	racedetector.Omit(t)
	for _, template := range post.Templates {
		t.Run(string(template), func(t *testing.T) { channeltest.Test(t, posttest.Driver(template)) })
	}
}
