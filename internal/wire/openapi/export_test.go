package openapi

var ExpandExamples = expandExamples
