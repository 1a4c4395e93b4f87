// Package newcomer installs the artefacts of a release in fresh systems, by the commands of the documentation, and
// asks and answers there. The environment variable ASKBACK_DIST is the folder of the artefacts; without it, the
// tests are skipped. "make newcomer" makes the artefacts and runs the tests.
package newcomer
