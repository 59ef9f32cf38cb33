//! Runs the committed corpora through the targets.

use std::fs;
use std::path::Path;

use headway_fuzz_targets::TARGETS;

#[test]
fn corpora() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    for (name, target) in TARGETS {
        let mut inputs = 0;
        for entry in fs::read_dir(corpora.join(name)).expect(name) {
            let path = entry.expect("a readable folder").path();
            target(&fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
            inputs += 1;
        }
        assert!(inputs >= 10, "the corpus of {name} has {inputs} inputs");
    }
}

/// Damaged copies of every input, by a fixed rule: a small fuzzer that needs no
/// tools and gives the same inputs every time.
#[test]
fn damaged_corpora() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let mut random = headway_sansio::Seed::new(1).stream("damage");
    for (name, target) in TARGETS {
        for entry in fs::read_dir(corpora.join(name)).expect(name) {
            let input = fs::read(entry.expect("a readable folder").path()).expect("a file");
            for _ in 0..20 {
                let mut damaged = input.clone();
                for _ in 0..=random.below(4) {
                    if damaged.is_empty() {
                        break;
                    }
                    let place = random.below(damaged.len() as u64) as usize;
                    match random.below(3) {
                        0 => damaged[place] = random.bits() as u8,
                        1 => drop(damaged.remove(place)),
                        _ => damaged.insert(place, random.bits() as u8),
                    }
                }
                target(&damaged);
            }
        }
    }
}
