//! Reads a TypeScript or JavaScript module by its syntax tree.

mod shape;
mod values;

use std::collections::{HashMap, HashSet};

use oxc_ast::ast::Statement as Node;
use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

use crate::typescript::{LiteralManifest, bare, literal_manifest, parsed};

use super::{
    Handler, Import, Lines, ManifestText, Module, Shape, Sight, Sighting, Statement, Unreadable,
};

use shape::{function_shape, local_shape, name_of, shape};
use values::{is_environment, is_inert, text_start, whole_text};

/// Globals that reach over the network.
const NETWORK: [&str; 4] = ["fetch", "WebSocket", "EventSource", "XMLHttpRequest"];

/// The same as members of the global object, which no name of the module can hide.
const GLOBAL_NETWORK: [&str; 4] = [
    "globalThis.fetch",
    "globalThis.WebSocket",
    "globalThis.EventSource",
    "globalThis.XMLHttpRequest",
];

/// Reads a module, as [`crate::typescript::source_text`] gives it.
///
/// # Errors
///
/// [`Unreadable`] for text that is no module.
pub fn read(text: &str) -> Result<Module, Unreadable> {
    let read = parsed(text, |program, _| {
        let mut reader = Reader { lines: Lines::of(text), ..Reader::default() };
        reader.top_level(program);
        reader.visit_program(program);
        reader.named_dependencies();
        let Reader { mut module, bound, .. } = reader;
        let shadowed =
            |sight: &Sight| matches!(sight, Sight::Network(name) if bound.contains(*name));
        module.sightings.retain(|sighting| !shadowed(&sighting.what));
        module
    });
    let mut module =
        read.map_err(|fault| Unreadable { line: fault.line, message: fault.message })?;
    if let Some(manifest) = &mut module.manifest {
        manifest.value = literal_manifest(text).map(|manifest| match manifest {
            LiteralManifest::Bare(value) | LiteralManifest::Parsed(value) => value,
        });
    }
    Ok(module)
}

#[derive(Default)]
struct Reader {
    lines: Lines,
    module: Module,
    /// Every name that the module gives to something itself.
    bound: HashSet<String>,
    /// Those that it gives more than once, so that it takes more than reading to tell what they are.
    ambiguous: HashSet<String>,
    /// The constants that are a text.
    texts: HashMap<String, String>,
    /// Dependencies that are read by the name of a constant, with their lines.
    named: Vec<(String, usize)>,
}

impl Reader {
    fn line(&self, span: Span) -> usize {
        self.lines.at(span.start as usize)
    }

    fn see(&mut self, what: Sight, span: Span) {
        let line = self.line(span);
        self.module.sightings.push(Sighting { what, line });
    }

    fn import(&mut self, module: &StringLiteral<'_>, types: bool, span: Span) {
        let line = self.line(span);
        self.module.imports.push(Import { module: module.value.to_string(), line, types });
    }

    fn top_level(&mut self, program: &Program<'_>) {
        for directive in &program.directives {
            self.statement(directive.span, false);
        }
        for statement in &program.body {
            match statement {
                Node::EmptyStatement(_)
                | Node::ImportDeclaration(_)
                | Node::TSTypeAliasDeclaration(_)
                | Node::TSInterfaceDeclaration(_) => {}
                Node::ExportDeclaration(it) => self.exported(it, program),
                Node::ExportNamedDeclaration(it) if it.export_kind.is_type() => {}
                Node::ExportNamedDeclaration(it) => {
                    let names = it.specifiers.iter();
                    let renamed = names.filter(|name| name.exported.name() == "handler");
                    for specifier in renamed {
                        let shape = local_shape(program, specifier.local.name().as_str());
                        self.handler(specifier.span, shape);
                    }
                }
                Node::ExportFromDeclaration(it) => {
                    let names = it.specifiers.iter();
                    if names.clone().any(|name| name.exported.name() == "handler") {
                        self.handler(it.span, Shape::Unknown);
                    }
                }
                // What comes through it only loading can tell.
                Node::ExportAllDeclaration(it) if !it.export_kind.is_type() => {
                    self.handler(it.span, Shape::Unknown);
                }
                Node::ExportAllDeclaration(_) => {}
                Node::FunctionDeclaration(it) => self.statement(it.span, false),
                Node::ClassDeclaration(it) => self.statement(it.span, false),
                Node::VariableDeclaration(it) => self.variables(it),
                other => self.statement(other.span(), true),
            }
        }
    }

    fn statement(&mut self, span: Span, acts: bool) {
        let line = self.line(span);
        self.module.statements.push(Statement { line, acts });
    }

    fn variables(&mut self, it: &VariableDeclaration<'_>) {
        let acts = it.declarations.iter().any(|one| !one.init.as_ref().is_none_or(is_inert));
        self.statement(it.span, acts);
    }

    fn handler(&mut self, span: Span, shape: Shape) {
        let line = self.line(span);
        self.module.handler = Some(Handler { line, shape });
    }

    fn exported(&mut self, it: &ExportDeclaration<'_>, program: &Program<'_>) {
        match &it.declaration {
            Declaration::VariableDeclaration(variables) => {
                let mut rest = false;
                for one in &variables.declarations {
                    match (name_of(&one.id), &one.init) {
                        (Some("handler"), Some(init)) => {
                            self.handler(one.span, shape(init, program));
                        }
                        (Some("manifest"), Some(init)) => self.manifest(one.span, init),
                        _ => rest = true,
                    }
                }
                if rest {
                    self.variables(variables);
                }
            }
            Declaration::FunctionDeclaration(function) => {
                if function.id.as_ref().is_some_and(|id| id.name == "handler") {
                    self.handler(function.span, function_shape(function));
                }
                self.statement(function.span, false);
            }
            Declaration::ClassDeclaration(class) => {
                if class.id.as_ref().is_some_and(|id| id.name == "handler") {
                    self.handler(class.span, Shape::Other);
                }
                self.statement(class.span, false);
            }
            _ => {}
        }
    }

    fn manifest(&mut self, span: Span, init: &Expression<'_>) {
        let mut keys = Vec::new();
        let literal = match bare(init) {
            Expression::CallExpression(call) => {
                call.arguments.first().and_then(Argument::as_expression)
            }
            other => Some(other),
        };
        if let Some(literal) = literal {
            self.keys(literal, "", &mut keys);
        }
        let line = self.line(span);
        self.module.manifest = Some(ManifestText { line, value: None, keys });
    }

    fn keys(&self, it: &Expression<'_>, around: &str, keys: &mut Vec<(String, usize)>) {
        // Deep enough for every field that a manifest has.
        if around.matches('.').count() > 4 {
            return;
        }
        let Expression::ObjectExpression(object) = bare(it) else { return };
        for property in &object.properties {
            let ObjectPropertyKind::ObjectProperty(property) = property else { continue };
            let Some(name) = property.key.static_name() else { continue };
            let path =
                if around.is_empty() { name.to_string() } else { format!("{around}.{name}") };
            keys.push((path.clone(), self.line(property.span)));
            self.keys(&property.value, &path, keys);
        }
    }

    fn named_dependencies(&mut self) {
        for (name, line) in std::mem::take(&mut self.named) {
            if let (Some(text), false) = (self.texts.get(&name), self.ambiguous.contains(&name)) {
                let what = Sight::Dependency(text.clone());
                self.module.sightings.push(Sighting { what, line });
            }
        }
    }

    fn called(&mut self, name: &str, arguments: &[Argument<'_>], span: Span) {
        match name {
            "skillHandoff" => self.see(Sight::Handoff, span),
            "lastOutput" | "lastRun" => {
                let Some(plugin) = arguments.last().and_then(Argument::as_expression) else {
                    return;
                };
                if let Some(plugin) = whole_text(plugin) {
                    self.see(Sight::Dependency(plugin.to_owned()), span);
                } else if let Expression::Identifier(name) = plugin {
                    self.named.push((name.name.to_string(), self.line(span)));
                }
            }
            _ => {}
        }
    }
}

impl<'a> Visit<'a> for Reader {
    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        // An import of nothing but `type` names still loads the module.
        self.import(&it.source, it.import_kind.is_type(), it.span);
        walk::walk_import_declaration(self, it);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.import(&it.source, it.export_kind.is_type(), it.span);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.import(&it.source, it.export_kind.is_type(), it.span);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        if let Expression::StringLiteral(module) = &it.source {
            self.import(module, false, it.span);
        }
        walk::walk_import_expression(self, it);
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        if !self.bound.insert(it.name.to_string()) {
            self.ambiguous.insert(it.name.to_string());
        }
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if let Some(name) = NETWORK.iter().find(|name| **name == it.name.as_str()) {
            self.see(Sight::Network(name), it.span);
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        match &it.callee {
            Expression::Identifier(name) => self.called(&name.name, &it.arguments, it.span),
            Expression::StaticMemberExpression(member) => {
                self.called(&member.property.name, &it.arguments, it.span);
            }
            _ => {}
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        let property = it.property.name.as_str();
        if is_environment(&it.object) {
            self.see(Sight::Variable(property.to_owned()), it.span);
        }
        if let Expression::Identifier(object) = &it.object
            && object.name == "globalThis"
            && let Some(name) =
                GLOBAL_NETWORK.iter().find(|name| name.ends_with(&format!(".{property}")))
        {
            self.see(Sight::Network(name), it.span);
        }
        walk::walk_static_member_expression(self, it);
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        if let Expression::StringLiteral(name) = &it.expression
            && is_environment(&it.object)
        {
            self.see(Sight::Variable(name.value.to_string()), it.span);
        }
        walk::walk_computed_member_expression(self, it);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        let constants =
            it.declarations.iter().filter(|_| it.kind == VariableDeclarationKind::Const);
        for one in constants {
            if let (Some(name), Some(text)) =
                (name_of(&one.id), one.init.as_ref().and_then(whole_text))
            {
                self.texts.insert(name.to_owned(), text.to_owned());
            }
        }
        walk::walk_variable_declaration(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let (BindingPattern::ObjectPattern(pattern), Some(init)) = (&it.id, &it.init)
            && is_environment(init)
        {
            let names = pattern.properties.iter().filter_map(|one| one.key.static_name());
            for name in names.map(|name| name.to_string()).collect::<Vec<_>>() {
                self.see(Sight::Variable(name), it.span);
            }
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        let handoff = match it.key.static_name().as_deref() {
            Some("needs_llm") => true,
            Some("summary") => {
                text_start(&it.value).is_some_and(|it| it.starts_with("[needs-llm]"))
            }
            _ => false,
        };
        if handoff {
            self.see(Sight::Handoff, it.span);
        }
        walk::walk_object_property(self, it);
    }

    // Types load and do nothing.
    fn visit_ts_type_annotation(&mut self, _: &TSTypeAnnotation<'a>) {}
    fn visit_ts_type(&mut self, _: &TSType<'a>) {}
}

#[cfg(test)]
mod tests;
