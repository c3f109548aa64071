//! What a value of a module is, as far as its own text tells.

use oxc_ast::ast::Statement as Node;
use oxc_ast::ast::*;

use super::super::Shape;
use crate::typescript::bare;

pub(super) fn name_of<'p>(it: &'p BindingPattern<'_>) -> Option<&'p str> {
    match it {
        BindingPattern::BindingIdentifier(id) => Some(id.name.as_str()),
        _ => None,
    }
}

pub(super) fn shape(it: &Expression<'_>, program: &Program<'_>) -> Shape {
    match bare(it) {
        Expression::ArrowFunctionExpression(it) => parameters(&it.params, false),
        Expression::FunctionExpression(it) => function_shape(it),
        Expression::Identifier(it) => local_shape(program, &it.name),
        Expression::StringLiteral(_)
        | Expression::NumericLiteral(_)
        | Expression::BooleanLiteral(_)
        | Expression::NullLiteral(_)
        | Expression::TemplateLiteral(_)
        | Expression::ArrayExpression(_)
        | Expression::ObjectExpression(_)
        | Expression::ClassExpression(_) => Shape::Other,
        _ => Shape::Unknown,
    }
}

pub(super) fn function_shape(it: &Function<'_>) -> Shape {
    parameters(&it.params, it.generator)
}

fn parameters(it: &FormalParameters<'_>, generator: bool) -> Shape {
    let required =
        it.items.iter().take_while(|item| item.initializer.is_none() && !item.optional).count();
    let most = if it.rest.is_some() { None } else { Some(it.items.len()) };
    Shape::Function { required, most, generator }
}

/// The shape of what a name of the module's top level stands for; a chain of names is not followed.
pub(super) fn local_shape(program: &Program<'_>, name: &str) -> Shape {
    for statement in &program.body {
        match statement {
            Node::FunctionDeclaration(it) if it.id.as_ref().is_some_and(|id| id.name == name) => {
                return function_shape(it);
            }
            Node::VariableDeclaration(it) => {
                let one = it.declarations.iter().find(|one| name_of(&one.id) == Some(name));
                if let Some(init) = one.and_then(|one| one.init.as_ref()) {
                    return match bare(init) {
                        Expression::Identifier(_) => Shape::Unknown,
                        other => shape(other, program),
                    };
                }
            }
            _ => {}
        }
    }
    Shape::Unknown
}
