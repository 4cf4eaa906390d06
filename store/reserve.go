package store

import "os"

const reserveText = "Minibus keeps this room to be able to write when the disk is full. It may be deleted, and is made again.\n"

// reserveStep is the least room that is worth a reserve, in bytes.
const reserveStep = 32 << 10

// reserve is a file that keeps room from other programs.
type reserve struct{ path string }

func (r reserve) size() int64 { return fileSize(r.path) }

// hold makes the file size bytes long, or as long as there is room.
func (r reserve) hold(size int64) {
	held := r.size()
	if held >= size {
		return
	}
	f, err := os.OpenFile(r.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	for ; size-held >= reserveStep; size = held + (size-held)*7/8 {
		if allocate(f, size) == nil {
			_, _ = f.WriteAt([]byte(reserveText), 0)
			return
		}
	}
}

// release gives up the room. The empty file stays, because a full disk may have no room for a new directory entry.
func (r reserve) release() {
	if r.size() > 0 {
		_ = os.Truncate(r.path, 0)
	}
}

// drop removes the file.
func (r reserve) drop() { os.Remove(r.path) }

// allocateZeros fills the file with zeros, for systems that have no better way to take up room.
func allocateZeros(f *os.File, size int64) error {
	zeros := make([]byte, 64<<10)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			return err
		}
	}
	return nil
}
