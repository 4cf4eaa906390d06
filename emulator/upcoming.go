package emulator

// Upcoming says how many messages of an entity become active when.
type Upcoming struct {
	Total int   // scheduled messages
	Next  int64 // ms, when the first of them is due; 0: there is none. Where very many are due together it may be up to a quarter of a second too early
	Slots []int // how many are due in each step of the time that was asked for
}

// Upcoming returns how many scheduled messages are due in each of so many steps from an instant on. It rounds both down to minutes. The numbers are
// kept up to date, not counted, and the entity's mutex is held for one step at a time. It fails with CodeNotFound if the entity is gone.
func (ms Messages) Upcoming(from, step int64, steps int) (u Upcoming, err error) {
	q := ms.q
	from -= from % minute
	step = max(step-step%minute, minute)
	u.Slots = make([]int, steps)
	for i := range u.Slots {
		at := from + int64(i)*step
		if u.Slots[i], err = ms.dueBetween(at, at+step); err != nil {
			return Upcoming{}, err
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	u.Total = q.box(Main).scheduled
	if u.Total > 0 {
		u.Next, _ = q.schedule.dues.earliest()
	}
	return u, nil
}

// dueBetween returns how many scheduled messages are due from one beginning of a minute to another.
func (ms Messages) dueBetween(from, to int64) (int, error) {
	q := ms.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.use(); err != nil {
		return 0, err
	}
	return q.box(Main).dues.between(from, to), nil
}
