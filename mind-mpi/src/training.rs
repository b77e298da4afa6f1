//! Data-parallel training steps.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use mind_files::Part;
use mind_rt::Parameters;

use crate::leaves::{self, Float};
use crate::{AllReduce, Error, checkpoint};

/// The maximum number of rows in a step. The message counts rows in `f32`, which is exact up to this number.
pub const MAX_ROWS: usize = 1 << 24;

/// One of several ranks that train the same parameters on shares of each batch.
///
/// All ranks call the same methods in the same order, and [`finish`](Self::finish) last. If a rank calls another
/// method, all ranks return [`Error::Calls`]. The [crate](crate) documentation has a complete program.
#[derive(Debug)]
pub struct DataParallel<A> {
    transport: A,
    program: String,
    layout: Vec<Part>,
    /// The number of floating-point elements of the parameters, and of a gradient.
    floats: usize,
    message: Message,
    times: Times,
}

/// The values that ranks sum, in this order:
///
/// - the gradients of all fields,
/// - the loss,
/// - the count by which the rank weighs its mean,
/// - 1 if the rank weighs by a count,
/// - the number of rows,
/// - one number for each of [`Call::ALL`].
///
/// The list is kept between steps to reuse its memory. It has elements of type `f64` if some parameter has.
#[derive(Debug)]
enum Message {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// The methods in which ranks communicate. Each method starts with a message of the same length. Ranks that call
/// different methods therefore detect it, instead of waiting for each other forever.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Mean,
    Broadcast,
    Agree,
    Save,
    Resume,
    Finish,
}

impl Call {
    const ALL: [(Self, &str); 6] = [
        (Self::Mean, "mean"),
        (Self::Broadcast, "broadcast"),
        (Self::Agree, "agree"),
        (Self::Save, "save"),
        (Self::Resume, "resume"),
        (Self::Finish, "finish"),
    ];
}

/// The rows of a batch that a rank processes.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    rows: Range<usize>,
    total: usize,
    weight: Weight,
}

/// The weight of a rank's mean in the mean of all ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Weight {
    /// The number of rows of the rank.
    Rows,
    /// The number of items that the loss of the rank is a mean over.
    Counted(usize),
}

/// The number of steps so far, and the time they spent in communication.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// The number of calls of [`DataParallel::mean`].
    pub steps: usize,
    /// The time these calls spent in the all-reduce, including the wait for slower ranks.
    pub reducing: Duration,
}

impl<A: AllReduce> DataParallel<A> {
    /// Connects this rank to the others, and copies the parameters of rank 0 to `parameters` on all ranks.
    ///
    /// `program` identifies the program that is trained. It must be equal on all ranks, and a checkpoint can be resumed
    /// only under the same `program`. Include all settings that must not change between runs, such as the kind of
    /// model.
    ///
    /// # Errors
    /// Returns [`Error::Layout`] on every rank if programs, names, shapes or element types differ, or
    /// [`Error::Transport`].
    pub fn new<P: Parameters>(transport: A, program: &str, parameters: &mut P) -> Result<Self, Error> {
        let (layout, floats) = (mind_files::layout(parameters), leaves::count_floats(parameters));
        let message = match leaves::any_f64(parameters) {
            true => Message::F64(Vec::new()),
            false => Message::F32(Vec::new()),
        };
        let program = program.to_owned();
        let mut team = Self { transport, program, layout, floats, message, times: Times::default() };
        // Compared before the parameters are sent, since a message must have the same length on all ranks.
        let layout = team.layout.clone();
        team.same(&layout)?;
        team.copy(parameters)?;
        Ok(team)
    }

    /// The number of this rank, counted from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// The number of ranks.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.transport.ranks()
    }

    /// The number of steps so far, and the time they spent in communication.
    #[must_use]
    pub const fn times(&self) -> Times {
        self.times
    }

    /// Returns this rank's share of a batch of `total` rows. `total` must be equal on all ranks. The shares are
    /// consecutive, and their lengths differ by at most one row. [`mean`](Self::mean) weighs shares of different
    /// lengths.
    ///
    /// ```
    /// use mind_mpi::{DataParallel, Error, threads};
    /// use mind_rt::Tensor;
    ///
    /// let shares = threads::run(3, |rank| -> Result<_, Error> {
    ///     let mut weights: Tensor![f32; 2] = Tensor::zeros();
    ///     let team = DataParallel::new(rank, "shares", &mut weights)?;
    ///     Ok(team.share(32)?.rows())
    /// })?;
    /// assert_eq!(shares, [0..11, 11..22, 22..32]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::TooFewRows`] for fewer rows than ranks, and [`Error::TooManyRows`] for more than [`MAX_ROWS`].
    pub fn share(&self, total: usize) -> Result<Share, Error> {
        let (rank, ranks) = (self.rank(), self.ranks());
        if total < ranks {
            return Err(Error::TooFewRows { rows: total, ranks });
        }
        if total > MAX_ROWS {
            return Err(Error::TooManyRows { rows: total });
        }
        let (each, more) = (total / ranks, total % ranks);
        let start = rank * each + rank.min(more);
        let rows = start..start + each + usize::from(rank < more);
        Ok(Share { rows, total, weight: Weight::Rows })
    }

    /// Returns this rank's share of a batch of `total` rows, with the same number of rows on each rank. A program needs
    /// this if its types fix the number of rows.
    ///
    /// # Errors
    /// Returns [`Error::Uneven`] if the number of ranks does not divide `total`, and the errors of
    /// [`share`](Self::share).
    pub fn even_share(&self, total: usize) -> Result<Share, Error> {
        let ranks = self.ranks();
        if total.is_multiple_of(ranks) {
            self.share(total)
        } else {
            Err(Error::Uneven { rows: total, ranks })
        }
    }

    /// Averages `gradient` and `loss` over the whole batch. On entry, both are means over this rank's share. Replaces
    /// `gradient` by its mean, and returns the mean loss.
    ///
    /// If the loss is a mean over something other than rows, such as the tokens that are not ignored,
    /// [`Share::counting`] sets their number. The ranks exchange one message, in `f32` unless some parameter is `f64`.
    /// Integers in the gradient remain unchanged.
    ///
    /// # Errors
    /// - [`Error::Gradient`] if `gradient` has other parts than the parameters.
    /// - [`Error::Rows`] if the shares do not add up to one batch, on each rank whose batch has another number of rows
    ///   than all shares together.
    /// - [`Error::Weighted`] if some ranks set a count and others do not.
    /// - [`Error::Calls`] and [`Error::Transport`].
    pub fn mean<P: Parameters>(
        &mut self,
        gradient: &mut P,
        loss: impl Into<f64>,
        share: &Share,
    ) -> Result<f64, Error> {
        let found = mind_files::layout(gradient);
        if found != self.layout {
            let (found, needed) = leaves::difference(&lines(&found), &lines(&self.layout));
            return Err(Error::Gradient { found, needed });
        }
        let (loss, transport, times) = (loss.into(), &mut self.transport, &mut self.times);
        match &mut self.message {
            Message::F32(row) => mean(gradient, loss, share, row, times, transport, A::sum_f32),
            Message::F64(row) => mean(gradient, loss, share, row, times, transport, A::sum_f64),
        }
    }

    /// Copies `parameters` of rank 0 to all ranks. They may be any parameters, such as the state of an optimiser.
    ///
    /// # Errors
    /// Returns [`Error::Layout`] if names, shapes or element types differ, [`Error::Calls`], or [`Error::Transport`].
    pub fn broadcast<P: Parameters>(&mut self, parameters: &mut P) -> Result<(), Error> {
        self.check_same_call(Call::Broadcast)?;
        self.same(&mind_files::layout(parameters))?;
        self.copy(parameters)
    }

    /// Checks that `parameters` have the same bits on all ranks, and so stops a run whose ranks diverged. It sends only
    /// a checksum, which is cheap compared with an epoch.
    ///
    /// # Errors
    /// Returns [`Error::Disagree`] on every rank if they differ, [`Error::Calls`], or [`Error::Transport`].
    pub fn agree<P: Parameters>(&mut self, parameters: &P) -> Result<(), Error> {
        self.check_same_call(Call::Agree)?;
        self.check_equal(parameters)
    }

    /// Checks that all ranks [agree](Self::agree), and writes a checkpoint of `parameters` on rank 0. `steps` is the
    /// number of steps so far, in any unit that the caller counts.
    ///
    /// Rank 0 writes a temporary file next to `path`, syncs it and renames it. At any moment, `path` is therefore the
    /// last complete checkpoint. The file is a safetensors file, which other tools can read.
    ///
    /// To save the state of the optimiser too, put it into one struct with the parameters: this struct also implements
    /// [`Parameters`].
    ///
    /// # Errors
    /// Returns [`Error::Disagree`], [`Error::File`] on rank 0, [`Error::Calls`], or [`Error::Transport`].
    pub fn save<P: Parameters>(&mut self, path: &Path, steps: u64, parameters: &P) -> Result<(), Error> {
        self.check_same_call(Call::Save)?;
        self.check_equal(parameters)?;
        match self.rank() {
            0 => checkpoint::save(path, &self.program, steps, parameters),
            _ => Ok(()),
        }
    }

    /// Reads a checkpoint of [`save`](Self::save) on rank 0, copies it to `parameters` on all ranks, and returns its
    /// `steps`. If no file exists, returns `None` and leaves `parameters` unchanged. A program can therefore call it at
    /// the start of the first run and of every restart:
    ///
    /// ```
    /// use mind_mpi::{DataParallel, Error, threads};
    /// use mind_rt::Tensor;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("net.safetensors");
    /// let epochs = |until| {
    ///     threads::run(2, |rank| -> Result<_, Error> {
    ///         let mut weights: Tensor![f32; 2] = Tensor::zeros();
    ///         let mut team = DataParallel::new(rank, "halves", &mut weights)?;
    ///         let first = team.resume(&path, &mut weights)?.unwrap_or(0);
    ///         for epoch in first..until {
    ///             weights.as_mut_slice().iter_mut().for_each(|w| *w += 0.5);
    ///             team.save(&path, epoch + 1, &weights)?;
    ///         }
    ///         team.finish()?;
    ///         Ok((first, weights))
    ///     })
    /// };
    /// assert_eq!(epochs(3)?[1], (0, Tensor::full(1.5)));
    /// assert_eq!(epochs(8)?[1], (3, Tensor::full(4.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::File`] or [`Error::Checkpoint`] on rank 0, and [`Error::Elsewhere`] with the same message on the
    ///   other ranks. `parameters` are unchanged then.
    /// - [`Error::Layout`] if names, shapes or element types differ between ranks.
    /// - [`Error::Calls`] and [`Error::Transport`].
    pub fn resume<P: Parameters>(&mut self, path: &Path, parameters: &mut P) -> Result<Option<u64>, Error> {
        self.check_same_call(Call::Resume)?;
        self.same(&mind_files::layout(parameters))?;
        let found = match self.rank() {
            0 => checkpoint::load(path, &self.program, parameters),
            _ => Ok(None),
        };
        let mut message = [0; 9];
        match &found {
            Ok(Some(steps)) => {
                message[0] = 1;
                message[1..].copy_from_slice(&steps.to_le_bytes());
            }
            Ok(None) => {}
            Err(_) => message[0] = 2,
        }
        self.transport.broadcast(0, &mut message)?;
        let [there, steps @ ..] = message;
        match there {
            0 => Ok(None),
            1 => {
                self.copy(parameters)?;
                Ok(Some(u64::from_le_bytes(steps)))
            }
            _ => {
                let message =
                    self.broadcast_text(0, &found.as_ref().map_or_else(Error::to_string, |_| String::new()))?;
                found.and(Err(Error::Elsewhere { rank: 0, message }))
            }
        }
    }

    /// Ends the run, and checks that all other ranks end it too.
    ///
    /// # Errors
    /// Returns [`Error::Calls`] if another rank calls another method, such as a further step, or [`Error::Transport`].
    pub fn finish(mut self) -> Result<(), Error> {
        self.check_same_call(Call::Finish)
    }

    /// Checks that all ranks call the same method, by a message of the length of a step, filled with zeros.
    fn check_same_call(&mut self, call: Call) -> Result<(), Error> {
        let length = self.floats + 4;
        match &mut self.message {
            Message::F32(row) => meet_empty(row, length, call, &mut self.transport, A::sum_f32),
            Message::F64(row) => meet_empty(row, length, call, &mut self.transport, A::sum_f64),
        }
    }

    /// Checks that all ranks have the same program and the same layout.
    fn same(&mut self, layout: &[Part]) -> Result<(), Error> {
        let own = std::iter::once(format!("program {}", self.program)).chain(lines(layout));
        // Names are escaped, since they may contain line breaks.
        let own = own.map(|line| line.escape_debug().to_string()).collect::<Vec<_>>().join("\n");
        let Some(rank) = self.differing(crc32fast::hash(own.as_bytes()))? else { return Ok(()) };
        let (needed, found) = (self.broadcast_text(0, &own)?, self.broadcast_text(rank, &own)?);
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let (found, needed) = leaves::difference(&lines(&found), &lines(&needed));
        Err(Error::Layout { rank, found, needed })
    }

    /// Checks that `parameters` have the same bits on all ranks.
    fn check_equal(&mut self, parameters: &impl Parameters) -> Result<(), Error> {
        match self.differing(crc32fast::hash(&mind_files::bytes(parameters)))? {
            Some(rank) => Err(Error::Disagree { rank }),
            None => Ok(()),
        }
    }

    /// Copies `parameters` of rank 0 to all ranks. The layout must be the same on all ranks.
    fn copy(&mut self, parameters: &mut impl Parameters) -> Result<(), Error> {
        let mut bytes = mind_files::bytes(parameters);
        self.transport.broadcast(0, &mut bytes)?;
        mind_files::set_bytes(parameters, &bytes);
        Ok(())
    }

    /// Sends the text of the rank `root` to all ranks, and returns it.
    fn broadcast_text(&mut self, root: usize, text: &str) -> Result<String, Error> {
        let mut length = (text.len() as u64).to_le_bytes();
        self.transport.broadcast(root, &mut length)?;
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(u64::from_le_bytes(length) as usize, 0);
        self.transport.broadcast(root, &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns on all ranks the first rank whose `word` differs from the one of rank 0.
    fn differing(&mut self, word: u32) -> Result<Option<usize>, Error> {
        // Each rank fills its own position, so the sum holds all words. 32 bits are exact in `f64`.
        let mut words = vec![0.0; self.ranks()];
        words[self.transport.rank()] = word.into();
        self.transport.sum_f64(&mut words)?;
        Ok(words.iter().position(|each| *each != words[0]))
    }
}

impl Share {
    /// The range of rows in the batch.
    #[must_use]
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Returns the share with the weight `count` instead of its number of rows. `count` is the number of items that the
    /// loss is a mean over. It differs from the number of rows if the loss ignores rows or counts tokens, such as
    /// `nn::cross_entropy_ignoring`.
    ///
    /// All ranks of a step must set a count. A rank with the count 0 contributes nothing, even if its mean is NaN.
    ///
    /// ```
    /// use mind_mpi::{DataParallel, Error, threads};
    ///
    /// // Rank 0 has the mean of 2, 4 and 6, rank 1 has the mean of 8. Each rank has two rows.
    /// let losses = threads::run(2, |rank| -> Result<f64, Error> {
    ///     let mut weight: mind_rt::Tensor![f32; 1] = mind_rt::Tensor::zeros();
    ///     let mut team = DataParallel::new(rank, "tokens", &mut weight)?;
    ///     let (loss, tokens) = [(4.0_f32, 3), (8.0, 1)][team.rank()];
    ///     let share = team.share(4)?.counting(tokens);
    ///     team.mean(&mut weight, loss, &share)
    /// })?;
    /// assert_eq!(losses, [5.0, 5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn counting(mut self, count: usize) -> Self {
        self.weight = Weight::Counted(count);
        self
    }
}

/// Implements [`DataParallel::mean`] for messages of element type `T`, which `sum` sums over the ranks.
fn mean<A: AllReduce, P: Parameters, T: Float>(
    gradient: &mut P,
    loss: f64,
    share: &Share,
    row: &mut Vec<T>,
    times: &mut Times,
    transport: &mut A,
    sum: impl FnOnce(&mut A, &mut [T]) -> Result<(), Error>,
) -> Result<f64, Error> {
    row.clear();
    leaves::floats(gradient, row);
    row.push(T::from_f64(loss));
    let weight = match share.weight {
        Weight::Rows => share.rows.len() as f64 / share.total as f64,
        Weight::Counted(count) => count as f64,
    };
    for x in row.iter_mut() {
        // The mean over no items is often NaN, as 0 divided by 0.
        *x = if weight == 0.0 { T::ZERO } else { T::from_f64(x.to_f64() * weight) };
    }
    let counted = match share.weight {
        Weight::Rows => 0,
        Weight::Counted(count) => count,
    };
    row.push(T::from_f64(counted as f64));
    row.push(T::from_f64(if share.weight == Weight::Rows { 0.0 } else { 1.0 }));
    row.push(T::from_f64(share.rows.len() as f64));

    let start = Instant::now();
    meet(row, Call::Mean, transport, sum)?;
    times.reducing += start.elapsed();
    times.steps += 1;

    let rows = row.pop().expect("the number of rows was pushed").to_f64() as usize;
    if rows != share.total {
        return Err(Error::Rows { found: rows, needed: share.total, rank: transport.rank() });
    }
    let weighted = row.pop().expect("the number of weighted ranks was pushed").to_f64() as usize;
    let counted = row.pop().expect("the count was pushed").to_f64();
    if weighted > 0 {
        let ranks = transport.ranks();
        if weighted != ranks {
            return Err(Error::Weighted { weighted, ranks });
        }
        // If no rank counted anything, the divisor is 1, and the gradient and the loss are 0.
        let divisor = counted.max(1.0);
        for x in row.iter_mut() {
            *x = T::from_f64(x.to_f64() / divisor);
        }
    }
    let loss = row.pop().expect("the loss was pushed").to_f64();
    leaves::set_floats(gradient, row);
    Ok(loss)
}

/// Calls [`meet`] with a message of `length` zeros.
fn meet_empty<A: AllReduce, T: Float>(
    row: &mut Vec<T>,
    length: usize,
    call: Call,
    transport: &mut A,
    sum: impl FnOnce(&mut A, &mut [T]) -> Result<(), Error>,
) -> Result<(), Error> {
    row.clear();
    row.resize(length, T::ZERO);
    meet(row, call, transport, sum)
}

/// Sums `row` over the ranks, and checks that all of them call the method `call`.
fn meet<A: AllReduce, T: Float>(
    row: &mut Vec<T>,
    call: Call,
    transport: &mut A,
    sum: impl FnOnce(&mut A, &mut [T]) -> Result<(), Error>,
) -> Result<(), Error> {
    let length = row.len();
    row.extend(Call::ALL.map(|(each, _)| if each == call { T::from_f64(1.0) } else { T::ZERO }));
    sum(transport, row)?;
    let ranks: [usize; Call::ALL.len()] = std::array::from_fn(|at| row[length + at].to_f64() as usize);
    row.truncate(length);
    let calls: Vec<_> = Call::ALL.iter().zip(ranks).filter(|(_, ranks)| *ranks > 0).collect();
    if calls.len() == 1 {
        return Ok(());
    }
    let calls: Vec<_> = calls
        .into_iter()
        .map(|((_, name), ranks)| format!("`{name}` is called by {ranks} of {}", transport.ranks()))
        .collect();
    Err(Error::Calls { calls: calls.join(", ") })
}

/// The text of each part, as error messages show it.
fn lines(layout: &[Part]) -> Vec<String> {
    layout.iter().map(Part::to_string).collect()
}
