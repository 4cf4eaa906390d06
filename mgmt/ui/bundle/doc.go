// Command bundle makes the scripts and the style of the explorer of their sources, into the directory files. It runs
// in mgmt/ui, by go generate, and needs the packages that npm ci installs there. The program itself imports no
// bundler.
package main
