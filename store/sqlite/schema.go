package sqlite

// SchemaVersion is the number of the newest migration of this release.
const SchemaVersion = 12
