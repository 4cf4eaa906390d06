// Command bundle makes the scripts and the style of the explorer of their sources, into the directory files. It runs
// in its own folder, by go generate, and needs the packages that npm ci installs in mgmt/ui. It is a module of its own:
// neither the program nor its tests compile the bundler.
package main
