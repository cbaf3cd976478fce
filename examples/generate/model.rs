//! A small byte-level decoder with random weights that are the same on every machine: `RMSNorm`, rotary
//! positions, grouped-query attention, a gated MLP. It knows nothing of caches: everything here is about one
//! token, and where K and V live is the caller's business.
//!
//! The C program beside this one must print the same tokens, so every sum runs in the order written here.

pub(crate) const VOCAB: usize = 256;
pub(crate) const LAYERS: usize = 7;
/// The last layer has no K and V of its own: it attends to those of this one.
pub(crate) const DONOR: usize = 4;
pub(crate) const DIM: usize = 64;
pub(crate) const HEADS: usize = 4;
pub(crate) const KV_HEADS: usize = 2;
pub(crate) const HEAD_DIM: usize = 16;
pub(crate) const KV_DIM: usize = KV_HEADS * HEAD_DIM;
const HIDDEN: usize = 128;
const SEED: u64 = 2024;
const HALF: usize = HEAD_DIM / 2;
/// How fast each pair of elements turns: 10000 to the power of -i/8. Written out, since not every `powf`
/// answers the same last digit.
const TURNS: [f32; HALF] =
    [1.0, 0.316_227_77, 0.1, 0.031_622_775, 0.01, 0.003_162_277_6, 0.001, 0.000_316_227_76];

/// One token between two layers; also its queries, and what they gathered.
pub(crate) type State = [f32; DIM];
/// K or V of one token, all heads.
pub(crate) type Row = [f32; KV_DIM];
pub(crate) type Logits = [f32; VOCAB];

/// `SplitMix64`.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 up to 1, exact in `f32`.
    pub(crate) fn uniform(&mut self) -> f32 {
        (self.next() >> 40) as f32 / 16_777_216.0
    }
}

/// A row of outputs for each input.
struct Matrix {
    weights: Vec<f32>,
    outputs: usize,
}

impl Matrix {
    /// Keeps the size of what passes through, times `gain`.
    fn random(rng: &mut Rng, inputs: usize, outputs: usize, gain: f32) -> Self {
        let scale = gain * (3.0 / inputs as f32).sqrt();
        let weights = (0..inputs * outputs).map(|_| (2.0 * rng.uniform() - 1.0) * scale).collect();
        Self { weights, outputs }
    }

    fn row(&self, index: usize) -> &[f32] {
        &self.weights[index * self.outputs..][..self.outputs]
    }

    /// Sums over the inputs in order, all outputs side by side.
    fn apply<const N: usize>(&self, input: &[f32]) -> [f32; N] {
        let mut output = [0.0; N];
        for (x, row) in input.iter().zip(self.weights.chunks_exact(N)) {
            for (sum, weight) in output.iter_mut().zip(row) {
                *sum += x * weight;
            }
        }
        output
    }
}

struct LayerWeights {
    query: Matrix,
    /// None in the KV-shared layer.
    key_value: Option<(Matrix, Matrix)>,
    output: Matrix,
    gate: Matrix,
    up: Matrix,
    down: Matrix,
}

impl LayerWeights {
    fn random(rng: &mut Rng, shared: bool) -> Self {
        let mut matrix = |inputs, outputs| Matrix::random(rng, inputs, outputs, 1.0);
        Self {
            query: matrix(DIM, DIM),
            key_value: (!shared).then(|| (matrix(DIM, KV_DIM), matrix(DIM, KV_DIM))),
            output: matrix(DIM, DIM),
            gate: matrix(DIM, HIDDEN),
            up: matrix(DIM, HIDDEN),
            down: matrix(HIDDEN, DIM),
        }
    }
}

/// What a layer asks of the cache: queries, and the K and V to keep unless it shares them.
pub(crate) struct Projection {
    pub(crate) queries: State,
    pub(crate) key_value: Option<(Row, Row)>,
}

pub(crate) struct Model {
    embedding: Matrix,
    layers: Vec<LayerWeights>,
    unembedding: Matrix,
}

impl Model {
    pub(crate) fn new() -> Self {
        let mut rng = Rng::new(SEED);
        let embedding = Matrix::random(&mut rng, VOCAB, DIM, 64.0);
        let layers = (0..LAYERS).map(|layer| LayerWeights::random(&mut rng, layer == LAYERS - 1)).collect();
        // The gain sets how sure the model is of the next byte.
        let unembedding = Matrix::random(&mut rng, DIM, VOCAB, 4.0);
        Self { embedding, layers, unembedding }
    }

    pub(crate) fn embed(&self, token: u8) -> State {
        let mut state = [0.0; DIM];
        state.copy_from_slice(self.embedding.row(token.into()));
        state
    }

    /// The way into a layer's attention, for the token at `position`.
    pub(crate) fn project(&self, layer: usize, state: &State, position: usize) -> Projection {
        let weights = &self.layers[layer];
        let input = normed(state);
        let mut queries = weights.query.apply(&input);
        rotate(&mut queries, position as f32);
        let key_value = weights.key_value.as_ref().map(|(key, value)| {
            let mut row = key.apply(&input);
            rotate(&mut row, position as f32);
            (row, value.apply(&input))
        });
        Projection { queries, key_value }
    }

    /// The way out of a layer's attention: what the queries gathered goes into the state, then the MLP.
    pub(crate) fn finish(&self, layer: usize, state: &mut State, gathered: &State) {
        let weights = &self.layers[layer];
        add(state, &weights.output.apply(gathered));
        let input = normed(state);
        let mut hidden: [f32; HIDDEN] = weights.gate.apply(&input);
        let up: [f32; HIDDEN] = weights.up.apply(&input);
        for (gate, up) in hidden.iter_mut().zip(up) {
            *gate = *gate / (1.0 + (-*gate).exp()) * up;
        }
        add(state, &weights.down.apply(&hidden));
    }

    pub(crate) fn logits(&self, state: &State) -> Logits {
        self.unembedding.apply(&normed(state))
    }
}

fn add(state: &mut State, change: &State) {
    for (x, y) in state.iter_mut().zip(change) {
        *x += y;
    }
}

/// `RMSNorm`.
fn normed(state: &State) -> State {
    let mut squares = 0.0;
    for x in state {
        squares += x * x;
    }
    let scale = 1.0 / (squares / DIM as f32 + 1e-6).sqrt();
    state.map(|x| x * scale)
}

/// Rotary position embedding: turns each pair of elements of each head by its angle, for that many positions
/// forward, or back if they are negative.
pub(crate) fn rotate(heads: &mut [f32], positions: f32) {
    for (i, turn) in TURNS.iter().enumerate() {
        let angle = positions * turn;
        let (sin, cos) = (angle.sin(), angle.cos());
        for head in heads.chunks_exact_mut(HEAD_DIM) {
            let (a, b) = (head[i], head[i + HALF]);
            head[i] = a * cos - b * sin;
            head[i + HALF] = a * sin + b * cos;
        }
    }
}
