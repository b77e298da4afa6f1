//! Steps that ranks take together.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use mind_files::Part;
use mind_rt::Parameters;

use crate::leaves::{self, Float};
use crate::{AllReduce, Error, checkpoint};

/// The most rows of a step: they are counted in `f32` among the gradients, and exactly.
pub const MAX_ROWS: usize = 1 << 24;

/// One of several ranks that train the same parameters on shares of each batch.
///
/// All ranks call the same methods in the same order, and end with [`finish`](Self::finish); a rank that calls another
/// one is told of on all. See the [crate](crate) for a program.
#[derive(Debug)]
pub struct DataParallel<A> {
    transport: A,
    program: String,
    layout: Vec<Part>,
    /// The elements that gradients have.
    floats: usize,
    message: Message,
    times: Times,
}

/// What ranks add up: the gradients of all fields in order, the loss, what is counted, the ranks that count, the number of
/// rows, and a number for each of [`Call::ALL`]. It is kept from step to step for its memory. Of `f64` where some parameter is.
#[derive(Debug)]
enum Message {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// The methods in which ranks meet. Every one begins with a message of the same length, so that ranks which call
/// different ones learn it, and do not wait for each other for ever.
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

/// The rows of a batch that are a rank's.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    rows: Range<usize>,
    total: usize,
    weight: Weight,
}

/// How a rank's mean counts in that of all ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Weight {
    /// By its rows.
    Rows,
    /// By so many of whatever its loss is the mean of.
    Counted(usize),
}

/// What steps took so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Calls of [`DataParallel::mean`].
    pub steps: usize,
    /// Time in the all-reduce of these, with that of waiting for slower ranks.
    pub reducing: Duration,
}

impl<A: AllReduce> DataParallel<A> {
    /// Joins the others; `parameters` become those of rank 0 on all.
    ///
    /// `program` says what is trained. Ranks must say the same, and a checkpoint is of it: what a run may not change,
    /// as the kind of model, belongs into it.
    ///
    /// # Errors
    /// [`Error::Layout`] on every rank where programs, names, shapes or element types differ; [`Error::Transport`].
    pub fn new<P: Parameters>(transport: A, program: &str, parameters: &mut P) -> Result<Self, Error> {
        let (layout, floats) = (mind_files::layout(parameters), leaves::count_floats(parameters));
        let message = match leaves::any_f64(parameters) {
            true => Message::F64(Vec::new()),
            false => Message::F32(Vec::new()),
        };
        let program = program.to_owned();
        let mut team = Self { transport, program, layout, floats, message, times: Times::default() };
        // Before anything of the parameters' length is sent: lengths that differ are no message.
        let layout = team.layout.clone();
        team.same(&layout)?;
        team.copy(parameters)?;
        Ok(team)
    }

    /// This one's number, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// How many ranks there are.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.transport.ranks()
    }

    /// What steps took so far.
    #[must_use]
    pub const fn times(&self) -> Times {
        self.times
    }

    /// This rank's rows of a batch of `total`, which all ranks name alike: shares follow each other and differ by a row at
    /// most. Where ranks do not divide the batch, [`mean`](Self::mean) weighs the shares.
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
    /// [`Error::TooFewRows`] if there are fewer rows than ranks, [`Error::TooManyRows`] for more than [`MAX_ROWS`].
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

    /// The same where each rank must have as many rows: a program whose number of rows is fixed in its types.
    ///
    /// # Errors
    /// [`Error::Uneven`] if the ranks do not divide `total`; those of [`share`](Self::share).
    pub fn even_share(&self, total: usize) -> Result<Share, Error> {
        let ranks = self.ranks();
        if total.is_multiple_of(ranks) {
            self.share(total)
        } else {
            Err(Error::Uneven { rows: total, ranks })
        }
    }

    /// Makes `gradient` the mean over the rows of the whole batch, and gives that of `loss`. Both are means over the share
    /// on entry. Where the loss is a mean over something else than rows, such as the tokens that are not ignored, the share says
    /// over how many by [`Share::counting`]. It is one message, in `f32` unless some parameter is `f64`. Integers among the gradients stay as they are.
    ///
    /// # Errors
    /// [`Error::Gradient`] if `gradient` has other parts than the parameters; [`Error::Rows`] where the shares are not of
    /// one batch, on each rank that was told of another number of rows than there are; [`Error::Weighted`] where some ranks
    /// count and others do not; [`Error::Calls`]; [`Error::Transport`].
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

    /// Makes `parameters` those of rank 0, whatever they are of: the optimiser's state too.
    ///
    /// # Errors
    /// [`Error::Layout`] where names, shapes or element types differ; [`Error::Calls`]; [`Error::Transport`].
    pub fn broadcast<P: Parameters>(&mut self, parameters: &mut P) -> Result<(), Error> {
        self.meet(Call::Broadcast)?;
        self.same(&mind_files::layout(parameters))?;
        self.copy(parameters)
    }

    /// That `parameters` are the same bits on all ranks. It sends their checksum: cheap beside an epoch, and it stops
    /// a run that went apart.
    ///
    /// # Errors
    /// [`Error::Disagree`] on every rank; [`Error::Calls`]; [`Error::Transport`].
    pub fn agree<P: Parameters>(&mut self, parameters: &P) -> Result<(), Error> {
        self.meet(Call::Agree)?;
        self.alike(parameters)
    }

    /// Writes a checkpoint of `parameters`, by rank 0, after `steps` of whatever the caller counts, once all ranks
    /// [agree](Self::agree). It is written beside, synced and renamed: at any moment `path` is the last whole one.
    ///
    /// A struct of the parameters and of what the optimiser remembers is [`Parameters`] too. The file is one of
    /// safetensors, which other tools read.
    ///
    /// # Errors
    /// [`Error::Disagree`]; [`Error::File`] on rank 0; [`Error::Calls`]; [`Error::Transport`].
    pub fn save<P: Parameters>(&mut self, path: &Path, steps: u64, parameters: &P) -> Result<(), Error> {
        self.meet(Call::Save)?;
        self.alike(parameters)?;
        match self.rank() {
            0 => checkpoint::save(path, &self.program, steps, parameters),
            _ => Ok(()),
        }
    }

    /// Reads what [`save`](Self::save) wrote, by rank 0 for all, and gives its `steps`; nothing and `None` where there
    /// is no file. So a run begins with it, whether it is the first or a restart:
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
    /// [`Error::File`] and [`Error::Checkpoint`] on rank 0, and [`Error::Elsewhere`] with its words on the others, with
    /// `parameters` as they were; [`Error::Layout`] where names, shapes or element types differ; [`Error::Calls`];
    /// [`Error::Transport`].
    pub fn resume<P: Parameters>(&mut self, path: &Path, parameters: &mut P) -> Result<Option<u64>, Error> {
        self.meet(Call::Resume)?;
        self.same(&mind_files::layout(parameters))?;
        let found = match self.rank() {
            0 => checkpoint::load(path, &self.program, parameters),
            _ => Ok(None),
        };
        let mut told = [0; 9];
        match &found {
            Ok(Some(steps)) => {
                told[0] = 1;
                told[1..].copy_from_slice(&steps.to_le_bytes());
            }
            Ok(None) => {}
            Err(_) => told[0] = 2,
        }
        self.transport.broadcast(0, &mut told)?;
        let [there, steps @ ..] = told;
        match there {
            0 => Ok(None),
            1 => {
                self.copy(parameters)?;
                Ok(Some(u64::from_le_bytes(steps)))
            }
            _ => {
                let message =
                    self.tell(0, &found.as_ref().map_or_else(Error::to_string, |_| String::new()))?;
                found.and(Err(Error::Elsewhere { rank: 0, message }))
            }
        }
    }

    /// Ends the run: the others are through too.
    ///
    /// # Errors
    /// [`Error::Calls`] where another rank still takes a step; [`Error::Transport`].
    pub fn finish(mut self) -> Result<(), Error> {
        self.meet(Call::Finish)
    }

    /// The message of a step without a gradient.
    fn meet(&mut self, call: Call) -> Result<(), Error> {
        let length = self.floats + 4;
        match &mut self.message {
            Message::F32(row) => meet_empty(row, length, call, &mut self.transport, A::sum_f32),
            Message::F64(row) => meet_empty(row, length, call, &mut self.transport, A::sum_f64),
        }
    }

    /// That all ranks have this program and this layout.
    fn same(&mut self, layout: &[Part]) -> Result<(), Error> {
        let own = std::iter::once(format!("program {}", self.program)).chain(lines(layout));
        // A name may have any character, and lines are told apart.
        let own = own.map(|line| line.escape_debug().to_string()).collect::<Vec<_>>().join("\n");
        let Some(rank) = self.differing(crc32fast::hash(own.as_bytes()))? else { return Ok(()) };
        let (needed, found) = (self.tell(0, &own)?, self.tell(rank, &own)?);
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let (found, needed) = leaves::difference(&lines(&found), &lines(&needed));
        Err(Error::Layout { rank, found, needed })
    }

    /// That `parameters` are the same bits on all ranks.
    fn alike(&mut self, parameters: &impl Parameters) -> Result<(), Error> {
        match self.differing(crc32fast::hash(&mind_files::bytes(parameters)))? {
            Some(rank) => Err(Error::Disagree { rank }),
            None => Ok(()),
        }
    }

    /// Makes `parameters`, of the same layout on all ranks, those of rank 0.
    fn copy(&mut self, parameters: &mut impl Parameters) -> Result<(), Error> {
        let mut bytes = mind_files::bytes(parameters);
        self.transport.broadcast(0, &mut bytes)?;
        mind_files::set_bytes(parameters, &bytes);
        Ok(())
    }

    /// The text of the rank `root`, on all.
    fn tell(&mut self, root: usize, text: &str) -> Result<String, Error> {
        let mut length = (text.len() as u64).to_le_bytes();
        self.transport.broadcast(root, &mut length)?;
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(u64::from_le_bytes(length) as usize, 0);
        self.transport.broadcast(root, &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The first rank whose `word` is not that of rank 0; all ranks learn it.
    fn differing(&mut self, word: u32) -> Result<Option<usize>, Error> {
        // Each fills its place, so that a sum is all of them; 32 bits are exact in `f64`.
        let mut words = vec![0.0; self.ranks()];
        words[self.transport.rank()] = word.into();
        self.transport.sum_f64(&mut words)?;
        Ok(words.iter().position(|each| *each != words[0]))
    }
}

impl Share {
    /// Which rows of the batch.
    #[must_use]
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// The same share, whose mean counts by `count` in place of its rows: as many as its loss is the mean of, which is another
    /// number than that of rows where a loss leaves some out or counts tokens, such as `nn::cross_entropy_ignoring`. All ranks of
    /// a step give a count; a rank whose count is 0 adds nothing, even where its mean is NaN.
    ///
    /// ```
    /// use mind_mpi::{DataParallel, Error, threads};
    ///
    /// // The mean of 2, 4 and 6 on rank 0, and of 8 on rank 1, each of two rows.
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

/// The mean in numbers of type `T`, which are added up by `sum`.
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
        // A share of which nothing is counted has no mean: 0 divided by 0 in many losses.
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
    let counted = row.pop().expect("what was counted was pushed").to_f64();
    if weighted > 0 {
        let ranks = transport.ranks();
        if weighted != ranks {
            return Err(Error::Weighted { weighted, ranks });
        }
        // Nothing is counted on any rank: nothing is learnt.
        let divisor = counted.max(1.0);
        for x in row.iter_mut() {
            *x = T::from_f64(x.to_f64() / divisor);
        }
    }
    let loss = row.pop().expect("the loss was pushed").to_f64();
    leaves::set_floats(gradient, row);
    Ok(loss)
}

/// A message of `length` zeros.
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

/// Adds `row` up over the ranks, which all came here by `call`.
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

/// The parts as they are told.
fn lines(layout: &[Part]) -> Vec<String> {
    layout.iter().map(Part::to_string).collect()
}
