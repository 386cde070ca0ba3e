//! A violation of a strong level that no pattern names, proved on the few transactions that suffice for it.

use super::evidence::Case;
use super::{Level, LevelSet, Pattern, Proof, Violation, ViolationId, derivation};
use crate::control::{Control, Interrupt};
use crate::history::{KeyId, OperationId, Renaming, TransactionId, TransactionSet};
use crate::relations::{Edge, Index, Node, Reason};

/// Proves that the history violates PC, SI or SER from the transactions of `core` alone; `None` if no proof is found
/// within the limits of [`derivation`]. All levels are closed under removing transactions and reads, so what
/// contradicts the part contradicts the whole.
pub(super) fn prove(
    case: &Case<'_>,
    level: Level,
    core: &[Node],
    control: &Control,
) -> Result<Option<Violation>, Interrupt> {
    let members = core.iter().map(|&node| case.index.transaction[node as usize]);
    let keep = TransactionSet::of(case.history, members);
    let (history, renaming) = case.history.restrict(&keep, |_| true);
    let resolution = case.resolution.restrict(case.choice, &history, &renaming);
    let index = Index::build(&history, &resolution, control)?;
    let Some((mut edges, mut proof)) = derivation::prove(&history, &index, level, control)? else { return Ok(None) };
    edges.iter_mut().for_each(|edge| map_edge(edge, &renaming));
    map_proof(&mut proof, &renaming);
    let mut transactions: Vec<TransactionId> = Vec::new();
    for edge in &edges {
        let other = match &edge.because {
            Reason::Visible { reader, .. } => Some(*reader),
            Reason::Overwrites { writer, .. } => Some(*writer),
            _ => None,
        };
        for t in [Some(edge.from), Some(edge.to), other].into_iter().flatten() {
            if !transactions.contains(&t) {
                transactions.push(t);
            }
        }
    }
    let pattern = match level {
        Level::Serializability => Pattern::SERCycle,
        _ => Pattern::SICycle,
    };
    Ok(Some(Violation {
        id: ViolationId { pattern, ordinal: 1 },
        also: Vec::new(),
        levels: LevelSet::upward(level),
        key: None,
        transactions,
        operations: Vec::new(),
        edges,
        proof,
        implied: false,
        group: 0,
    }))
}

fn map_edge(edge: &mut Edge, renaming: &Renaming) {
    let transaction = |t: &mut TransactionId| *t = renaming.old_transaction(*t);
    let operation = |o: &mut OperationId| *o = renaming.operations[o.index()];
    transaction(&mut edge.from);
    transaction(&mut edge.to);
    edge.key.iter_mut().for_each(|key| *key = old_key(*key, renaming));
    edge.from_operation.iter_mut().chain(edge.to_operation.iter_mut()).for_each(operation);
    match &mut edge.because {
        Reason::Visible { reader, read, .. } => {
            transaction(reader);
            operation(read);
        }
        Reason::Overwrites { writer, .. } => transaction(writer),
        Reason::SessionOrder
        | Reason::Reads
        | Reason::Path { .. }
        | Reason::Conflict { .. }
        | Reason::ReadModifyWrite { .. }
        | Reason::Assumed => {}
    }
}

fn map_proof(proof: &mut Proof, renaming: &Renaming) {
    let mut open = vec![proof];
    while let Some(proof) = open.pop() {
        if let Proof::Split { key, first, second } = proof {
            *key = old_key(*key, renaming);
            open.extend([&mut *first.1, &mut *second.1]);
        }
    }
}

fn old_key(key: KeyId, renaming: &Renaming) -> KeyId {
    renaming.keys[key.index()]
}
