// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues of jobs, and the threads that run the jobs. A plugin has a pool with several threads. Each of its named queues has one thread,
//! and thus runs its jobs in order.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use clearway_sys::{CLEARWAY_CLOSED, CLEARWAY_FULL, CLEARWAY_OUT_OF_MEMORY, Status};

use crate::sync::lock;

pub(crate) type Job = Box<dyn FnOnce(Ran) + Send>;

/// Whether a job must do its work when the queue calls it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ran {
    /// The job must run now. The value is the time that the job waited.
    After(Duration),
    /// The queue was closed. The job must not do its work.
    Cancelled,
}

pub(crate) struct Queue {
    name: String,
    threads_max: usize,
    jobs_max: usize,
    state: Mutex<State>,
    ready: Condvar,
    idle: Condvar,
}

struct State {
    jobs: VecDeque<Waiting>,
    threads: usize,
    sleeping: usize,
    /// The number of jobs that run.
    running: usize,
    closed: bool,
    /// Whether a closing thread runs the jobs that are left. The queue's own threads then run none, because one of them could run a job at
    /// the same time as the closing thread.
    taken_over: bool,
}

/// A job in the queue.
struct Waiting {
    since: Instant,
    job: Job,
    /// Whether the job runs even if the queue is closed: see `push_always`.
    must_run: bool,
}

thread_local! {
    static ON_QUEUE_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread belongs to a queue.
pub(crate) fn on_queue_thread() -> bool {
    ON_QUEUE_THREAD.with(Cell::get)
}

impl Queue {
    /// Makes a queue without threads. Threads start when jobs arrive.
    pub(crate) fn new(name: String, threads_max: usize, jobs_max: usize) -> Arc<Queue> {
        let state =
            State { jobs: VecDeque::new(), threads: 0, sleeping: 0, running: 0, closed: false, taken_over: false };
        // The system ends a thread's name at a zero byte, and the standard library panics on such a name.
        let name = name.replace('\0', "?");
        Arc::new(Queue {
            name,
            threads_max,
            jobs_max,
            state: Mutex::new(state),
            ready: Condvar::new(),
            idle: Condvar::new(),
        })
    }

    /// Queues a job. Returns the job if the queue is closed or full, or if no thread could be started.
    pub(crate) fn push(self: &Arc<Queue>, job: Job) -> Result<(), (Refused, Job)> {
        let mut state = lock(&self.state);
        if state.closed {
            return Err((Refused::Closed, job));
        }
        if state.jobs.len() >= self.jobs_max {
            return Err((Refused::Full, job));
        }
        if self.thread_wanted(&state) {
            match self.spawn() {
                Ok(()) => state.threads += 1,
                Err(_) if state.threads == 0 => return Err((Refused::NoThread, job)),
                Err(_) => {}
            }
        }
        state.jobs.push_back(Waiting { since: Instant::now(), job, must_run: false });
        drop(state);
        self.ready.notify_one();
        Ok(())
    }

    /// Queues a job that must run, even beyond the limit of jobs and on a closed queue. The caller bounds the number of such jobs. If the
    /// queue has no thread and the system starts none, the calling thread runs the queue's jobs in order. Such a job ignores its argument.
    pub(crate) fn push_always(self: &Arc<Queue>, job: Job) {
        let mut state = lock(&self.state);
        if !state.closed && self.thread_wanted(&state) && self.spawn().is_ok() {
            state.threads += 1;
        }
        state.jobs.push_back(Waiting { since: Instant::now(), job, must_run: true });
        if state.threads == 0 && !state.taken_over {
            state.threads = 1;
            self.stand_in(state);
        } else {
            drop(state); // a closing thread that has taken over runs this job, too
            self.ready.notify_one();
        }
    }

    fn thread_wanted(&self, state: &State) -> bool {
        state.sleeping <= state.jobs.len() && state.threads < self.threads_max
    }

    fn spawn(self: &Arc<Queue>) -> std::io::Result<()> {
        let queue = self.clone();
        thread::Builder::new().name(self.name.clone()).spawn(move || queue.run()).map(drop)
    }

    /// Runs jobs on this thread until none is left or a new thread takes over. `threads` counts this thread as the queue's only thread.
    #[cold]
    fn stand_in<'a>(self: &'a Arc<Queue>, mut state: MutexGuard<'a, State>) {
        let outer = ON_QUEUE_THREAD.replace(true);
        while let Some(next) = state.jobs.pop_front() {
            state = self.run_one(state, next);
            if !state.closed && !state.jobs.is_empty() && self.spawn().is_ok() {
                ON_QUEUE_THREAD.set(outer);
                return; // the new thread takes this thread's place in the count
            }
        }
        ON_QUEUE_THREAD.set(outer);
        state.threads -= 1;
        self.idle.notify_all();
    }

    fn run(&self) {
        ON_QUEUE_THREAD.with(|inside| inside.set(true));
        let mut state = lock(&self.state);
        loop {
            let next = if state.taken_over { None } else { state.jobs.pop_front() };
            if let Some(next) = next {
                state = self.run_one(state, next);
            } else if state.closed {
                break;
            } else {
                state.sleeping += 1;
                state = self.ready.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
                state.sleeping -= 1;
            }
        }
        state.threads -= 1;
        self.idle.notify_all();
    }

    /// Runs a job on this thread, without the lock.
    fn run_one<'a>(&'a self, mut state: MutexGuard<'a, State>, next: Waiting) -> MutexGuard<'a, State> {
        state.running += 1;
        drop(state);
        (next.job)(Ran::After(next.since.elapsed()));
        let mut state = lock(&self.state);
        state.running -= 1;
        state
    }

    /// Closes the queue. Queued jobs still run until `until`. Then this function calls the remaining jobs with `Ran::Cancelled`, except
    /// those that must run. If a job runs, its thread runs these next, because a queue with one thread promises that its jobs do not
    /// overlap. If none runs, this thread runs them. Returns true if no job runs any more. Threads without a job end soon after, and this
    /// function does not wait for them.
    pub(crate) fn close(&self, until: Instant) -> bool {
        let mut state = lock(&self.state);
        state.closed = true;
        self.ready.notify_all();
        // A thread that has run the last job ends at once, and each thread that ends notifies `idle`.
        while state.running > 0 || !state.jobs.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.idle.wait_timeout(state, left);
            state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        let left = std::mem::take(&mut state.jobs);
        let (must_run, cancelled): (VecDeque<_>, VecDeque<_>) = left.into_iter().partition(|waiting| waiting.must_run);
        state.jobs = must_run;
        if state.running == 0 {
            state = self.take_over(state);
        }
        let ended = state.running == 0;
        drop(state);
        for waiting in cancelled {
            (waiting.job)(Ran::Cancelled);
        }
        ended
    }

    /// Runs the jobs of a closed queue on this thread, in order, until none is left.
    fn take_over<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.taken_over = true;
        while let Some(next) = state.jobs.pop_front() {
            state = self.run_one(state, next);
        }
        state.taken_over = false;
        self.idle.notify_all(); // another thread may be closing the queue, too
        state
    }
}

/// Why a queue refuses a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    Closed,
    Full,
    NoThread,
}

impl Refused {
    /// Returns the status for this reason.
    pub(crate) fn status(self) -> Status {
        match self {
            Refused::Closed => CLEARWAY_CLOSED,
            Refused::Full => CLEARWAY_FULL,
            Refused::NoThread => CLEARWAY_OUT_OF_MEMORY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};

    const LONG: Duration = Duration::from_secs(60);

    fn push(queue: &Arc<Queue>, job: impl FnOnce(Ran) + Send + 'static) {
        queue.push(Box::new(job)).map_err(|(why, _)| why).unwrap();
    }

    /// Runs a job until the returned sender is dropped. Also returns the job's thread.
    fn block(queue: &Arc<Queue>) -> (thread::ThreadId, Sender<()>) {
        let ((begun, begins), (end, ends)) = (channel(), channel::<()>());
        push(queue, move |_| {
            begun.send(thread::current().id()).unwrap();
            ends.recv().unwrap_err();
        });
        (begins.recv().unwrap(), end)
    }

    #[test]
    fn one_thread_runs_jobs_in_their_order() {
        let queue = Queue::new("test".into(), 1, 1000);
        let (told, heard) = channel();
        for at in 0..100 {
            let told = told.clone();
            push(&queue, move |_| told.send(at).unwrap());
        }
        assert!(queue.close(Instant::now() + LONG));
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn several_threads_run_jobs_that_wait_for_each_other() {
        let queue = Queue::new("test".into(), 2, 1000);
        let (one, other) = (channel(), channel());
        let (to_other, from_one) = (one.0, other.1);
        push(&queue, move |_| {
            to_other.send(()).unwrap();
            from_one.recv().unwrap();
        });
        let (to_one, from_other) = (other.0, one.1);
        push(&queue, move |_| {
            from_other.recv().unwrap();
            to_one.send(()).unwrap();
        });
        assert!(queue.close(Instant::now() + LONG));
    }

    #[test]
    fn closing_tells_what_will_not_run_and_leaves_a_job_that_does_not_end() {
        let queue = Queue::new("test".into(), 1, 1000);
        let (_, end) = block(&queue);
        let (told, heard) = channel();
        push(&queue, move |ran| told.send(ran).unwrap());
        assert!(!queue.close(Instant::now()));
        assert_eq!(heard.recv(), Ok(Ran::Cancelled));
        assert!(matches!(queue.push(Box::new(|_| {})), Err((Refused::Closed, _))));
        drop(end);
        assert!(queue.close(Instant::now() + LONG));
    }

    #[test]
    fn closing_without_a_timeout_leaves_a_job_that_must_run_to_the_thread_whose_job_runs() {
        let queue = Queue::new("test".into(), 1, 1000);
        let ((own, end), (told, heard)) = (block(&queue), channel());
        queue.push_always(Box::new(move |_| told.send(thread::current().id()).unwrap()));
        assert!(!queue.close(Instant::now()));
        assert!(heard.try_recv().is_err(), "the other job still runs");
        drop(end);
        assert_eq!(heard.recv(), Ok(own));
        assert!(queue.close(Instant::now() + LONG));
    }

    #[test]
    fn jobs_that_a_closing_thread_runs_do_not_overlap_with_those_of_the_queues_thread() {
        let queue = Queue::new("test".into(), 0, 1000);
        lock(&queue.state).threads = 1; // as if the thread had not begun yet
        let (told, heard) = channel();
        let (own, after) = (queue.clone(), told.clone());
        queue.push_always(Box::new(move |_| {
            own.push_always(Box::new(move |_| after.send((2, thread::current().id())).unwrap()));
            thread::spawn(move || own.run()).join().unwrap(); // the thread begins, and leaves the second job to the closing one
            told.send((1, thread::current().id())).unwrap();
        }));
        assert!(queue.close(Instant::now()));
        let here = thread::current().id();
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), [(1, here), (2, here)]);
    }

    #[test]
    fn closing_without_a_timeout_waits_for_no_thread_that_has_nothing_to_run() {
        let queue = Queue::new("test".into(), 1, 1000);
        push(&queue, |_| {});
        while lock(&queue.state).sleeping == 0 {
            thread::yield_now();
        }
        assert!(queue.close(Instant::now()), "the thread waits for a job");

        let queue = Queue::new("test".into(), 0, 1000);
        lock(&queue.state).threads = 1; // as if the thread had not begun yet
        let (told, heard) = channel();
        push(&queue, move |ran| told.send(ran).unwrap());
        assert!(queue.close(Instant::now()));
        assert_eq!(heard.try_recv(), Ok(Ran::Cancelled));
    }

    #[test]
    fn a_queue_of_any_name_runs_jobs() {
        for name in ["", "\0", "a\0b", "a name that is longer than a thread's may be \0", "\u{1F980}"] {
            let queue = Queue::new(name.into(), 1, 1000);
            let (told, heard) = channel();
            push(&queue, move |ran| told.send(ran).unwrap());
            assert!(matches!(heard.recv(), Ok(Ran::After(_))), "{name:?}");
            assert!(queue.close(Instant::now() + LONG));
        }
    }

    #[test]
    fn a_job_that_must_run_is_queued_by_a_full_queue_and_by_a_closed_one() {
        let queue = Queue::new("test".into(), 1, 1);
        let ((_, end), (told, heard)) = (block(&queue), channel());
        let tell = |what: &'static str| {
            let told = told.clone();
            Box::new(move |_| told.send((what, on_queue_thread())).unwrap())
        };
        push(&queue, tell("in the limit"));
        queue.push_always(tell("beyond the limit"));
        lock(&queue.state).closed = true;
        queue.push_always(tell("after the close"));
        assert!(heard.try_recv().is_err(), "all of them wait for their turn");
        drop(end);
        for what in ["in the limit", "beyond the limit", "after the close"] {
            assert_eq!(heard.recv(), Ok((what, true)));
        }
        assert!(queue.close(Instant::now() + LONG));
    }

    #[test]
    fn a_job_that_must_run_runs_on_the_callers_thread_where_the_queue_has_none() {
        let queue = Queue::new("test".into(), 0, 1); // as if no thread could be started
        let (told, heard) = channel();
        let (again, after) = (queue.clone(), told.clone());
        queue.push_always(Box::new(move |_| {
            assert!(on_queue_thread(), "closing here would wait for itself");
            again.push_always(Box::new(move |_| after.send(2).unwrap()));
            told.send(1).unwrap();
        }));
        assert_eq!(heard.try_recv(), Ok(1), "before `push_always` returned");
        assert!(!on_queue_thread());
        assert_eq!(heard.recv(), Ok(2), "after the first, on a thread that was started for it");
        assert!(queue.close(Instant::now() + LONG));
    }

    #[test]
    fn a_full_queue_gives_the_job_back() {
        let queue = Queue::new("test".into(), 0, 1);
        lock(&queue.state).threads = 1; // no real thread, so the job stays queued
        push(&queue, |_| {});
        assert!(matches!(queue.push(Box::new(|_| {})), Err((Refused::Full, _))));
    }
}
