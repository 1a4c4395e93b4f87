// Command release completes a release. GoReleaser makes the programs, their archives and packages; this
// command makes the rest from the same programs: packages for npm, packages of the clients, the image, and
// the checksums of all.
//
//	go -C release run . -licenses ../bin/share/THIRD_PARTY_LICENSES
//	go -C release run . -dist ../dist
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	dist := flag.String("dist", "../dist", "`folder` that GoReleaser wrote")
	repository := flag.String("repository", "..", "root `folder` of the repository")
	licenses := flag.String("licenses", "", "only write the licences of the modules in the program to this `file`")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "release: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	var err error
	if *licenses != "" {
		err = writeLicenses(*licenses, *repository)
	} else {
		err = complete(*dist, *repository)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// parts are what complete makes, in order.
var parts = []struct {
	name string
	make func(build) error
}{
	{"packages of npm", npmPackages},
	{"client for TypeScript", typescriptPackage},
	{"client for Python", pythonPackages},
	{"install.sh", installScript},
	{"image", image},
	{"compose and Kubernetes", manifests},
	{"server.json", serverJSON},
	{"checksums", checksums}, // the last, because it reads what the others made
}

// complete makes the parts in the folder dist.
func complete(dist, repository string) error {
	b, err := readBuild(dist, repository)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := p.make(b); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}
