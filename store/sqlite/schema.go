package sqlite

// SchemaVersion is the number of the newest migration this program knows.
const SchemaVersion = 4
