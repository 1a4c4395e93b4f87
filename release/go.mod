module github.com/askback/askback/release

go 1.26.0
