//! A graph under construction: nodes, constants, inputs and outputs, by the numbers that ONNX gives their fields.

use super::protobuf::MessageBytes;

/// Types of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Text = 8,
    Double = 11,
}

/// A graph whose inner names begin with a prefix that no input has.
pub(super) struct Graph {
    prefix: String,
    count: usize,
    nodes: Vec<MessageBytes>,
    constants: Vec<MessageBytes>,
    inputs: Vec<MessageBytes>,
    outputs: Vec<MessageBytes>,
}

impl Graph {
    /// A graph with these inputs: one column of values each.
    pub(super) fn new(inputs: &[(&str, Element)]) -> Self {
        let mut prefix = String::from("orthorules/");
        while inputs.iter().any(|(name, _)| name.starts_with(&prefix)) {
            prefix.push('/');
        }
        let inputs = inputs.iter().map(|&(name, element)| value(name, element, &[None, Some(1)])).collect();
        Self { prefix, count: 0, nodes: Vec::new(), constants: Vec::new(), inputs, outputs: Vec::new() }
    }

    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("{}{}", self.prefix, self.count)
    }

    /// Adds a node and returns the name of its result.
    pub(super) fn node(&mut self, operator: &str, inputs: &[&str], attributes: &[MessageBytes]) -> String {
        let result = self.fresh();
        self.named(operator, inputs, &result, attributes);
        result
    }

    /// Adds a node with a result of this name.
    pub(super) fn named(&mut self, operator: &str, inputs: &[&str], result: &str, attributes: &[MessageBytes]) {
        let node = inputs.iter().fold(MessageBytes::default(), |node, input| node.text(1, input));
        let node = node.text(2, result).text(3, result).text(4, operator);
        self.nodes.push(attributes.iter().fold(node, |node, attribute| node.message(5, attribute)));
    }

    /// Adds a node that joins its inputs two by two, and returns the name of the result.
    pub(super) fn chain(&mut self, operator: &str, inputs: &[String]) -> String {
        let mut inputs = inputs.iter().cloned();
        let first = inputs.next().unwrap_or_default();
        inputs.fold(first, |all, next| self.node(operator, &[&all, &next], &[]))
    }

    /// Adds numbers in this shape.
    pub(super) fn doubles(&mut self, shape: &[usize], values: &[f64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constant(shape, MessageBytes::default().int(2, Element::Double as i64).bytes(9, &bytes))
    }

    /// Adds one text.
    pub(super) fn text(&mut self, text: &str) -> String {
        self.constant(&[1, 1], MessageBytes::default().int(2, Element::Text as i64).text(6, text))
    }

    /// Adds whole numbers.
    pub(super) fn ints(&mut self, values: &[i64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constant(&[values.len()], MessageBytes::default().int(2, 7).bytes(9, &bytes))
    }

    fn constant(&mut self, shape: &[usize], tensor: MessageBytes) -> String {
        let name = self.fresh();
        let tensor = shape.iter().fold(tensor.text(8, &name), |tensor, &size| tensor.int(1, size as i64));
        self.constants.push(tensor);
        name
    }

    /// Declares an output of doubles; a size of `None` is the number of rows.
    pub(super) fn output(&mut self, name: &str, shape: &[Option<usize>]) {
        self.outputs.push(value(name, Element::Double, shape));
    }

    /// The file.
    pub(super) fn into_bytes(self, comment: &str, notes: &[(&str, String)]) -> Vec<u8> {
        let graph = self.nodes.iter().fold(MessageBytes::default(), |graph, node| graph.message(1, node));
        let graph = self.constants.iter().fold(graph.text(2, "orthorules"), |graph, tensor| graph.message(5, tensor));
        let graph = self.inputs.iter().fold(graph, |graph, input| graph.message(11, input));
        let graph = self.outputs.iter().fold(graph, |graph, output| graph.message(12, output));
        // The comment comes first, so that it is at the top of the file, too. Operators are those of set 19: it is the
        // first in which texts can be compared.
        let model = MessageBytes::default().text(6, comment).int(1, 9);
        let model = model.text(2, "orthorules").text(3, env!("CARGO_PKG_VERSION")).message(7, &graph);
        let model = model.message(8, &MessageBytes::default().text(1, "").int(2, 19));
        let note = |(name, text): &(&str, String)| MessageBytes::default().text(1, name).text(2, text);
        notes.iter().map(note).fold(model, |model, note| model.message(14, &note)).into_bytes()
    }
}

/// A named attribute that is a whole number.
pub(super) fn int(name: &str, number: i64) -> MessageBytes {
    MessageBytes::default().text(1, name).int(3, number).int(20, 2)
}

/// The declaration of a value.
fn value(name: &str, element: Element, shape: &[Option<usize>]) -> MessageBytes {
    let dimension = |size: &Option<usize>| match size {
        Some(size) => MessageBytes::default().int(1, *size as i64),
        None => MessageBytes::default().text(2, "rows"),
    };
    let shape = shape.iter().fold(MessageBytes::default(), |shape, size| shape.message(1, &dimension(size)));
    let tensor = MessageBytes::default().int(1, element as i64).message(2, &shape);
    MessageBytes::default().text(1, name).message(2, &MessageBytes::default().message(1, &tensor))
}
