use mind::{Parameters, Xoshiro256, mind, optim::Adam};
use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
};

mind! {
    #[derive(Clone, Debug, PartialEq)]
    struct Net { w: f32[3, 2], b: f32[2] }
}

/// Of each parameter a line with its name and extents, and its elements.
fn save(p: &impl Parameters, to: &mut impl Write) -> io::Result<()> {
    for part in p.parameters() {
        let elements = part.as_slice::<f32>().ok_or_else(|| not_f32(&part.name))?;
        writeln!(to, "{} {:?}", part.name, part.dims)?;
        for x in elements {
            to.write_all(&x.to_le_bytes())?;
        }
    }
    Ok(())
}

/// What `save` wrote, into a struct of the same shapes.
fn load(p: &mut impl Parameters, from: &mut impl BufRead) -> io::Result<()> {
    for part in p.parameters_mut() {
        let (needed, mut found) = (format!("{} {:?}\n", part.name, part.dims), Vec::new());
        from.take(needed.len() as u64).read_until(b'\n', &mut found)?;
        if found != needed.as_bytes() {
            return Err(wrong(format!("found {}, needed {needed}", found.escape_ascii())));
        }
        let name = part.name.clone();
        for x in part.into_slice::<f32>().ok_or_else(|| not_f32(&name))? {
            let mut bytes = [0; 4];
            from.read_exact(&mut bytes)?;
            *x = f32::from_le_bytes(bytes);
        }
    }
    Ok(())
}

fn not_f32(name: &str) -> io::Error {
    wrong(format!("{name} is not of f32"))
}

fn wrong(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn main() -> io::Result<()> {
    let path = std::env::temp_dir().join(format!("checkpoint-{}", std::process::id()));
    let net = Net::he_normal(&mut Xoshiro256::new(1));
    let mut file = BufWriter::new(File::create(&path)?);
    save(&net, &mut file)?;
    file.into_inner()?.sync_all()?;

    let mut loaded = Net::zeros();
    load(&mut loaded, &mut BufReader::new(File::open(&path)?))?;
    fs::remove_file(&path)?;
    println!("the same: {}", loaded == net);

    // What an optimiser remembers is parameters too: its means, and a count of steps.
    let state = Adam::zeros_like(&net);
    for part in state.parameters() {
        println!("{} {:?} of {}", part.name, part.dims, part.dtype());
    }
    save(&state, &mut io::sink()).unwrap_or_else(|error| println!("{error}"));
    Ok(())
}
