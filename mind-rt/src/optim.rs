//! What optimisers remember between steps, over any parameters: the structs of the language's file `optim`.
//!
//! A function of `mind!` takes one as `state: &mut optim::Adam<Net>`, and `optim::adam_step` gives its successor. A test of
//! the facade holds their fields against that file.

use crate::parameters::{Parameter, ParameterMut, Parameters};

/// A struct with parameters of one type as fields, and how many steps there were where that is counted.
macro_rules! states {
    ($(
        $(#[$words:meta])*
        $name:ident { $($(#[$of_field:meta])* $field:ident),* $(; $(#[$of_count:meta])* $count:ident)? }
    )*) => { $(
        $(#[$words])*
        ///
        /// It is [`Parameters`] too, and is saved and loaded as these are.
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name<P> {
            $($(#[$of_field])* pub $field: P,)*
            $($(#[$of_count])* pub $count: i64,)?
        }

        impl<P: Parameters + Clone> $name<P> {
            /// That of no steps yet: of the shapes of `parameters`, and zero.
            #[must_use]
            pub fn zeros_like(parameters: &P) -> Self {
                Self { $($field: zeros_like(parameters),)* $($count: 0,)? }
            }
        }

        impl<P: Parameters> Parameters for $name<P> {
            fn visit<'a>(&'a self, visitor: &mut dyn FnMut(Parameter<'a>)) {
                $(self.$field.visit(&mut |part| visitor(part.under(stringify!($field))));)*
                $(visitor(Parameter::number(stringify!($count), &self.$count));)?
            }

            fn visit_mut<'a>(&'a mut self, visitor: &mut dyn FnMut(ParameterMut<'a>)) {
                $(self.$field.visit_mut(&mut |part| visitor(part.under(stringify!($field))));)*
                $(visitor(ParameterMut::number(stringify!($count), &mut self.$count));)?
            }
        }
    )* };
}

states! {
    /// What `optim::adam_step` and `optim::adamw_step` remember of parameters.
    ///
    /// ```
    /// use mind_rt::{Parameters, Tensor, optim::Adam};
    ///
    /// let weights: Tensor![f32; 2, 3] = Tensor::full(1.0);
    /// let state = Adam::zeros_like(&weights);
    /// assert_eq!(state.mean, Tensor::zeros());
    /// assert_eq!(state.steps, 0);
    /// let names: Vec<_> = state.parameters().into_iter().map(|part| part.name).collect();
    /// assert_eq!(names, ["mean", "square", "steps"]);
    /// ```
    Adam {
        /// The mean of gradients.
        mean,
        /// The mean of their squares.
        square;
        /// How many steps there were.
        steps
    }

    /// What `optim::momentum_step`, `optim::nesterov_step` and `optim::muon_step` remember of parameters.
    Momentum {
        /// The sum of gradients, of which the older ones count less.
        velocity
    }

    /// What `optim::rmsprop_step` remembers of parameters.
    RmsProp {
        /// The mean of squares of gradients.
        square
    }

    /// What `optim::adagrad_step` remembers of parameters.
    AdaGrad {
        /// The sum of squares of gradients.
        squares
    }

    /// What `optim::lion_step` remembers of parameters.
    Lion {
        /// The mean of gradients.
        mean
    }
}

/// Parameters of the same shapes, all of them zero.
fn zeros_like<P: Parameters + Clone>(parameters: &P) -> P {
    let mut zeros = parameters.clone();
    zeros.visit_mut(&mut |part| part.elements.clear());
    zeros
}
