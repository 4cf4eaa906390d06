package emulator

import (
	"slices"
	"sync"
)

const (
	// MaxJobs is how many jobs of a namespace run at once.
	MaxJobs = 8
	// keptJobs is how many that have ended are remembered.
	keptJobs = 100
	// maxJobErrors is how many failures of single messages a job remembers, the first ones.
	maxJobErrors = 20
)

// JobKind says what a job does with the messages that it selects.
type JobKind uint8

// The kinds of jobs.
const (
	PurgeJob JobKind = iota // removes them
	MoveJob                 // moves them to an entity
)

// JobOptions say what a job does.
type JobOptions struct {
	Kind   JobKind
	Sub    SubQueue
	Select Selection
	Max    int64   // messages; 0: all
	Target string  // of a move: the path of an entity; empty: the one in whose dead-letter queue the messages are
	Edit   Edit    // of a move
	Again  bool    // the move was asked for as a resubmission of dead letters; only for people
	Client *Client // started it; nil: a caller in the process
}

// Edit says what a move changes in each message.
type Edit struct {
	Strip      bool     // the properties that the dead-lettering has set go
	Remove     []string // application properties that go
	Properties []byte   // application properties that are set, as an encoded map; nil: none
	System     []byte   // broker properties that are set, as in message.Patch; nil: none
	Body       []byte   // encoded sections that take the place of the body; nil: it stays
}

// JobState says how far a job is.
type JobState uint8

// The states of jobs.
const (
	JobRunning   JobState = iota
	JobDone               // it has seen all messages
	JobCancelled          // by a client, or because the process stops or the namespace goes
	JobFailed             // it could not go on
)

// JobError is why a message, or the job, failed.
type JobError struct {
	Seq  int64 // of the message
	Text string
}

// JobProgress counts a job's work so far.
type JobProgress struct {
	State    JobState
	Total    int64 // messages to look at: those that were there when it began
	Examined int64
	Done     int64      // removed or moved
	Failed   int64      // that could not be; they are where they were
	Skipped  int64      // that clients had locked, or took meanwhile
	Errors   []JobError // of the first ones that failed
	Why      string     // of JobFailed, and of JobCancelled unless a client did it
	Ended    int64      // ms; 0: it runs
}

// Job works on the messages of one sub-queue in the background. While it runs it has one goroutine. It is in memory
// only: after a restart it is gone, and each message is where it was or where it went.
type Job struct {
	// immutable
	id int64
	selectionMatcher
	options JobOptions
	started int64   // ms
	last    []int64 // the last number, by partition, when it began: what came later does not concern it
	cancel  chan struct{}
	done    chan struct{} // closed when it has ended

	from int64 // where to look next; the job's goroutine has it

	mu        sync.Mutex
	cancelled bool
	progress  JobProgress
}

// ID returns the job's number in its namespace.
func (j *Job) ID() int64 { return j.id }

// Entity returns the entity on whose messages the job works.
func (j *Job) Entity() *Entity { return j.q }

// Options returns what the job does.
func (j *Job) Options() JobOptions { return j.options }

// Started returns when the job began, in milliseconds since the Unix epoch.
func (j *Job) Started() int64 { return j.started }

// Ended returns a channel that is closed when the job has ended.
func (j *Job) Ended() <-chan struct{} { return j.done }

// Progress returns what the job has done so far.
func (j *Job) Progress() JobProgress {
	j.mu.Lock()
	defer j.mu.Unlock()
	p := j.progress
	p.Errors = slices.Clone(p.Errors)
	return p
}

// Cancel ends the job after the messages that it has in hand. What is done stays done.
func (j *Job) Cancel() { j.stop("") }

func (j *Job) stop(why string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.cancelled && j.progress.State == JobRunning {
		j.cancelled = true
		j.progress.Why = why
		close(j.cancel)
	}
}

// note changes the progress.
func (j *Job) note(change func(p *JobProgress)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.progress)
}

// fail notes that a message stays for a reason.
func (j *Job) fail(seq int64, why error) {
	j.note(func(p *JobProgress) {
		if p.Failed++; len(p.Errors) < maxJobErrors {
			p.Errors = append(p.Errors, JobError{Seq: seq, Text: why.Error()})
		}
	})
}

// Jobs has the jobs of a namespace.
type Jobs struct {
	ns      *Namespace
	mu      sync.Mutex
	last    int64
	all     []*Job // by number
	running running
}

// add adds a job that starts. It fails if too many run.
func (t *Jobs) add(j *Job) error {
	ns := t.ns
	t.mu.Lock()
	defer t.mu.Unlock()
	if ns.closed.Load() || ns.stage.Load() != stageThere {
		return errorf(CodeServerBusy, j.q.path, "No job can begin: %s.", stopping)
	}
	n := 0
	for _, other := range t.all {
		if other.Progress().State == JobRunning {
			n++
		}
	}
	if n >= MaxJobs {
		return errorf(CodeQuotaExceeded, j.q.path, "%d jobs of the namespace '%s' run, and no more can. "+
			"Wait until one has ended, or cancel one.", n, ns.name)
	}
	t.last++
	j.id = t.last
	t.all = append(t.all, j)
	ended := slices.IndexFunc(t.all, func(other *Job) bool { return other.Progress().State != JobRunning })
	if ended >= 0 && len(t.all) > keptJobs {
		t.all = slices.Delete(t.all, ended, ended+1)
	}
	t.running.add()
	return nil
}

// stopping is why jobs end that no client has cancelled.
const stopping = "the process stops, or the namespace is being deleted"

// end cancels all jobs and waits for them.
func (t *Jobs) end() {
	t.mu.Lock()
	for _, j := range t.all {
		j.stop(stopping)
	}
	t.mu.Unlock()
	t.running.wait()
}

// Jobs returns the jobs of the namespace.
func (ns *Namespace) Jobs() *Jobs { return &ns.jobs }

// List returns the jobs that run and the last hundred that have ended, the newest first.
func (t *Jobs) List() []*Job {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Clone(t.all)
	slices.Reverse(all)
	return all
}

// Get returns the job with that number.
func (t *Jobs) Get(id int64) (*Job, error) {
	for _, j := range t.List() {
		if j.id == id {
			return j, nil
		}
	}
	return nil, errorf(CodeNotFound, "", "The namespace '%s' has no job %d. A restart forgets all jobs, and only the "+
		"last %d are remembered.", t.ns.name, id, keptJobs)
}
